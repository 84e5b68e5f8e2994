// SPDX-License-Identifier: Apache-2.0
#include "bound/bound_model.h"

namespace nereid::bound {
namespace {

using backend::Error;
using Time = std::chrono::steady_clock::time_point;

uint64_t Nanoseconds(Time time) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

/// Returns the batch size of a request: the first dimension of its first input.
uint64_t BatchSizeOf(TRITONBACKEND_Request* request) {
  TRITONBACKEND_Input* input = nullptr;
  const int64_t* shape = nullptr;
  uint32_t dims = 0;
  if (TRITONSERVER_Error* error = TRITONBACKEND_RequestInputByIndex(request, 0, &input)) {
    TRITONSERVER_ErrorDelete(error);
    return 1;
  }
  TRITONSERVER_ErrorDelete(
      TRITONBACKEND_InputProperties(input, nullptr, nullptr, &shape, &dims, nullptr, nullptr));
  return dims > 0 && shape[0] > 0 ? static_cast<uint64_t>(shape[0]) : 1;
}

void Refuse(TRITONBACKEND_Request* request) {
  TRITONBACKEND_Response* response = nullptr;
  TRITONSERVER_Error* const failed = TRITONBACKEND_ResponseNew(&response, request);
  if (failed != nullptr) {
    TRITONSERVER_ErrorDelete(failed);  // the server answers a request without a response
    return;
  }
  TRITONSERVER_Error* const error = TRITONSERVER_ErrorNew(
      TRITONSERVER_ERROR_UNAVAILABLE, "the program that the model is bound to serves it no more");
  TRITONSERVER_ErrorDelete(
      TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error));
  TRITONSERVER_ErrorDelete(error);
}

/// The times of an execution, in nanoseconds of the steady clock.
struct Times {
  uint64_t begin;
  uint64_t taken;
  uint64_t end;
};

void Report(TRITONBACKEND_ModelInstance* instance, const NEREID_BoundBatch& batch,
            const Times& times, uint64_t batch_size) {
  for (uint32_t i = 0; i < batch.count; ++i) {
    TRITONSERVER_ErrorDelete(TRITONBACKEND_ModelInstanceReportStatistics(
        instance, batch.requests[i], batch.succeeded[i], times.begin, times.taken, times.end,
        times.end));
  }
  TRITONSERVER_ErrorDelete(TRITONBACKEND_ModelInstanceReportBatchStatistics(
      instance, batch_size, times.begin, times.taken, times.end, times.end));
}

}  // namespace

Error BoundModel::Load(TRITONBACKEND_Model* model) {
  NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config_));
  const std::string* const token = config_.parameters.Find("bound_token");
  if (token == nullptr) {
    return Error::InvalidArgument("model '" + config_.name +
                                  "': the backend 'bound' serves functions of a Python program; "
                                  "load the model with nereid.bind");
  }
  queue_ = FindQueue(*token + "/" + std::to_string(config_.version));
  if (queue_ == nullptr) {
    return Error(
        TRITONSERVER_ERROR_UNAVAILABLE,
        "model '" + config_.name + "': the program that it was bound to serves it no more");
  }
  return {};
}

void BoundInstance::Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
                            uint32_t count) {
  NEREID_BoundBatch batch;
  batch.requests = requests;
  batch.count = count;
  uint64_t batch_size = 0;
  for (uint32_t i = 0; i < count; ++i) {
    batch_size += model_.batching() ? BatchSizeOf(requests[i]) : 1;
  }
  const Time begin = std::chrono::steady_clock::now();
  batch.taken = begin;
  if (!model_.queue().Execute(&batch)) {
    for (uint32_t i = 0; i < count; ++i) Refuse(requests[i]);
  }
  const Times times = {Nanoseconds(begin), Nanoseconds(batch.taken),
                       Nanoseconds(std::chrono::steady_clock::now())};
  Report(instance, batch, times, batch_size);
  for (uint32_t i = 0; i < count; ++i) {
    TRITONSERVER_ErrorDelete(
        TRITONBACKEND_RequestRelease(requests[i], TRITONSERVER_REQUEST_RELEASE_ALL));
  }
}

}  // namespace nereid::bound
