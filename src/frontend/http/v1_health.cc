// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/v1_health.h"

#include "base/json_text.h"

namespace nereid::frontend::http {
namespace {

using base::Status;

base::Result<std::string> Live(api::InferenceService& service) {
  const base::Result<bool> live = service.IsServerLive();
  if (live.ok() && *live) return std::string(R"({"status":"alive"})");
  return Status::Unavailable("The server is not live.");
}

// The texts are those of KServe's own server.
base::Result<std::string> ModelReady(api::InferenceService& service, const std::string& model) {
  NEREID_ASSIGN_OR_RETURN(const bool ready, service.IsModelReady(model, -1));
  if (ready) return "{\"name\":" + base::JsonQuote(model) + ",\"ready\":true}";
  const bool exists = service.FindModel(model, -1).status().code() != base::StatusCode::kNotFound;
  if (exists) return Status::Unavailable("Model with name " + model + " is not ready.");
  return Status::NotFound("Model with name " + model + " does not exist.");
}

}  // namespace

base::Result<std::string> V1Health(api::InferenceService& service, const Route& route) {
  if (route.endpoint == Endpoint::kV1Live) return Live(service);
  return ModelReady(service, std::string(route.model));
}

}  // namespace nereid::frontend::http
