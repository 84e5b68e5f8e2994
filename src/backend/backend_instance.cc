// SPDX-License-Identifier: Apache-2.0
#include "backend/backend_instance.h"

#include "abi/error.h"
#include "base/log.h"
#include "request/response_factory.h"

namespace nereid::backend {

base::Status BackendInstance::Initialize() {
  const auto initialize = model_.backend().entry_points().instance_initialize;
  if (initialize != nullptr) NEREID_RETURN_IF_ERROR(abi::TakeStatus(initialize(handle())));
  initialized_ = true;
  return base::Status::Ok();
}

BackendInstance::~BackendInstance() {
  const auto finalize = model_.backend().entry_points().instance_finalize;
  if (!initialized_ || finalize == nullptr) return;
  const base::Status status = abi::TakeStatus(finalize(handle()));
  if (!status.ok()) {
    LOG_ERROR << "failed finalizing instance '" << description_.name << "': " << status.message();
  }
}

base::Status BackendInstance::CheckReady() {
  const auto ready = model_.backend().entry_points().instance_ready;
  return ready == nullptr ? base::Status::Ok() : abi::TakeStatus(ready(handle()));
}

void BackendInstance::Execute(std::vector<std::unique_ptr<request::InferenceRequest>> requests) {
  handles_.clear();
  for (auto& request : requests) {
    handles_.push_back(reinterpret_cast<TRITONBACKEND_Request*>(request.release()));
  }
  const base::Status status = abi::TakeStatus(model_.backend().entry_points().instance_execute(
      handle(), handles_.data(), static_cast<uint32_t>(handles_.size())));
  if (status.ok()) return;
  // The requests are still ours.
  for (TRITONBACKEND_Request* request_handle : handles_) {
    std::unique_ptr<request::InferenceRequest> request(
        reinterpret_cast<request::InferenceRequest*>(request_handle));
    observer_.OnRequest(*request, false, {});
    request::RefuseRequest(std::move(request), status);
  }
}

}  // namespace nereid::backend
