// SPDX-License-Identifier: Apache-2.0
#include "server/residency/waiting_requests.h"

#include <algorithm>
#include <utility>

#include "base/duration.h"
#include "model_config.pb.h"
#include "request/binding.h"

namespace nereid::server {

using base::Status;
using base::StatusCode;

uint64_t ExpiryOf(const request::InferenceRequest& request, uint64_t now_ns, uint64_t max_wait_ns) {
  uint64_t expiry_ns = base::Duration::Nanoseconds(max_wait_ns).After(now_ns);
  if (request.deadline_ns != 0) expiry_ns = std::min(expiry_ns, request.deadline_ns);
  if (request.timeout_us != 0) {
    expiry_ns = std::min(expiry_ns, base::Duration::Microseconds(request.timeout_us).After(now_ns));
  }
  return expiry_ns;
}

void RefuseUnserved(std::unique_ptr<request::InferenceRequest> request, Status error) {
  auto identity = std::make_shared<request::ModelIdentity>();
  identity->name = request->model_name;
  identity->version = request->model_version;
  identity->version_text =
      request->model_version < 0 ? std::string() : std::to_string(request->model_version);
  identity->config = config::ModelConfig::Create({});
  request::BindRequest(*request, std::move(identity));
  request::RefuseRequest(std::move(request), std::move(error));
}

Status CancelledWhileWaiting(const request::InferenceRequest& request) {
  return Status::Cancelled(request.LogPrefix() + "Request was cancelled");
}

Status LoadErrorForRequest(const std::string& model, const Status& error) {
  if (error.code() == StatusCode::kUnavailable || error.code() == StatusCode::kCancelled) {
    return error;
  }
  return Status::Unavailable("model '" + model +
                             "' is not in memory and could not be loaded: " + error.message());
}

}  // namespace nereid::server
