// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/load_endpoint.h"

#include <string>

#include "api/load_control.h"
#include "api/unsupported.h"
#include "codec/json/model_loads.h"

namespace nereid::frontend::http {

base::Result<std::string> LoadEndpoint::Document(const Route& route, Method method) const {
  NEREID_RETURN_IF_ERROR(api::CheckRepositoryName(route.repository));
  api::LoadControl* const loads = service_.controls().loads;
  if (loads == nullptr) return api::ExtensionUnsupported("load status");
  const std::string model(route.model);
  if (method == Method::kDelete) {
    NEREID_RETURN_IF_ERROR(loads->Cancel(model));
    return std::string();
  }
  NEREID_ASSIGN_OR_RETURN(const api::ModelLoads shown, loads->Get(model));
  return codec::json::EncodeModelLoads(shown);
}

}  // namespace nereid::frontend::http
