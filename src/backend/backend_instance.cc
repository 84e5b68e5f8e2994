// SPDX-License-Identifier: Apache-2.0
#include "backend/backend_instance.h"

#include <exception>

#include "abi/error.h"
#include "abi/handle.h"
#include "base/byte_budget.h"
#include "base/log.h"
#include "request/binding.h"
#include "request/host_inputs.h"
#include "request/response_factory.h"

namespace nereid::backend {

using Custody = request::ResponseFactory::Custody;

namespace {

/// The calls of plug-ins' executions that the calling thread is in.
thread_local int executions_of_thread = 0;

class CountedExecution {
 public:
  CountedExecution() { ++executions_of_thread; }
  ~CountedExecution() { --executions_of_thread; }
  CountedExecution(const CountedExecution&) = delete;
  CountedExecution& operator=(const CountedExecution&) = delete;
};

}  // namespace

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

// A plug-in whose execution runs on an event loop (schedule/inline_policy.h) may ask whether models
// are ready; it is the execution that takes long then, and runs on no loop afterwards.
base::Status BackendInstance::CheckReady() {
  const auto ready = model_.backend().entry_points().instance_ready;
  if (ready == nullptr) return base::Status::Ok();
  if (!base::ThreadMayBlock() && executions_of_thread == 0) {
    LOG_ERROR << "an event loop asks instance '" << description_.name << "' whether it is ready";
    return base::Status::Internal("instance '" + description_.name +
                                  "' cannot be asked on an event loop whether it is ready");
  }
  return abi::TakeStatus(ready(handle()));
}

bool BackendInstance::HasRoom() {
  const auto has_room = model_.backend().entry_points().instance_has_room;
  return has_room == nullptr || has_room(handle());
}

void BackendInstance::SetThreads(int threads) {
  const auto set = model_.backend().entry_points().set_threads;
  if (set != nullptr) set(handle(), static_cast<uint32_t>(threads));
}

base::Status BackendInstance::CallExecute() {
  const CountedExecution counted;
  std::string what;
  try {
    return abi::TakeStatus(model_.backend().entry_points().instance_execute(
        handle(), handles_.data(), static_cast<uint32_t>(handles_.size())));
  } catch (const std::exception& exception) {
    what = exception.what();
  } catch (...) {
    what = "something that is no std::exception";
  }
  LOG_ERROR << "the backend of instance '" << description_.name << "' threw: " << what;
  return base::Status::Internal("the backend of instance '" + description_.name +
                                "' threw: " + what);
}

void BackendInstance::Refuse(TRITONBACKEND_Request* request_handle, const base::Status& error) {
  std::unique_ptr<request::InferenceRequest> request(&abi::Unwrap(request_handle));
  if (!request->is_null) observer_.OnRequest(*request, false, {});
  request::RefuseRequest(std::move(request), error);
}

void BackendInstance::Execute(std::vector<std::unique_ptr<request::InferenceRequest>> requests) {
  handles_.clear();
  base::Status status;
  // Elsewhere the backend takes the tensors where they are.
  if (description_.kind == config::InstanceKind::kCpu) status = request::MoveInputsToHost(requests);
  for (auto& request : requests) {
    // The factories tell, after a failure, which requests the backend still has: a released request
    // may be destroyed, or with another instance, so its handle must not be touched.
    handed_out_.push_back({request->response_factory(), request->response_factory()->execution()});
    handles_.push_back(abi::Wrap<TRITONBACKEND_Request>(request.release()));
  }
  if (status.ok()) status = CallExecute();
  for (size_t i = 0; i < handles_.size() && !status.ok(); ++i) {
    const auto& [factory, execution] = handed_out_[i];
    const Custody custody = factory->CustodySince(execution);
    if (custody == Custody::kHandedOut) {
      Refuse(handles_[i], status);
    } else if (custody == Custody::kReleased && !factory->IsFinalSent()) {
      factory->SendError(status);  // its response was not sent and may never be
    }
  }
  handed_out_.clear();
}

}  // namespace nereid::backend
