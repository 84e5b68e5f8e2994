// SPDX-License-Identifier: Apache-2.0
#include "server/residency/waiting_requests.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "model_config.pb.h"
#include "request/binding.h"

namespace nereid::server {

using base::Status;
using base::StatusCode;

namespace {

uint64_t Later(uint64_t now_ns, uint64_t delay_ns) {
  return delay_ns > std::numeric_limits<uint64_t>::max() - now_ns
             ? std::numeric_limits<uint64_t>::max()
             : now_ns + delay_ns;
}

}  // namespace

uint64_t ExpiryOf(const request::InferenceRequest& request, uint64_t now_ns, uint64_t max_wait_ns) {
  uint64_t expiry_ns = Later(now_ns, max_wait_ns);
  if (request.deadline_ns != 0) expiry_ns = std::min(expiry_ns, request.deadline_ns);
  if (request.timeout_us != 0) {
    const uint64_t timeout_ns = request.timeout_us > std::numeric_limits<uint64_t>::max() / 1000
                                    ? std::numeric_limits<uint64_t>::max()
                                    : request.timeout_us * 1000;
    expiry_ns = std::min(expiry_ns, Later(now_ns, timeout_ns));
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
