// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_InferenceTrace*.
#include "request/trace.h"

#include <memory>
#include <string>

#include "abi/error.h"
#include "abi/handle.h"
#include "abi/tensor_types.h"
#include "frontend/capi/handles.h"

using namespace nereid;
using namespace nereid::frontend::capi;
using abi::Unwrap;
using abi::Wrap;
using request::Trace;
using request::TraceActivity;

namespace {

/// A listener that calls the functions of a C program.
class CallbackListener final : public request::TraceListener {
 public:
  CallbackListener(TRITONSERVER_InferenceTraceActivityFn_t activity_fn,
                   TRITONSERVER_InferenceTraceTensorActivityFn_t tensor_fn,
                   TRITONSERVER_InferenceTraceReleaseFn_t release_fn, void* userp)
      : activity_fn_(activity_fn), tensor_fn_(tensor_fn), release_fn_(release_fn), userp_(userp) {}

  void OnActivity(Trace& trace, TraceActivity activity, uint64_t time_ns) noexcept override {
    activity_fn_(Wrap<TRITONSERVER_InferenceTrace>(&trace),
                 static_cast<TRITONSERVER_InferenceTraceActivity>(activity), time_ns, userp_);
  }
  void OnCustomActivity(Trace& trace, std::string_view, uint64_t time_ns) noexcept override {
    activity_fn_(Wrap<TRITONSERVER_InferenceTrace>(&trace), TRITONSERVER_TRACE_CUSTOM_ACTIVITY,
                 time_ns, userp_);
  }
  void OnTensor(Trace& trace, TraceActivity activity,
                const request::TracedTensor& tensor) noexcept override {
    if (tensor_fn_ == nullptr) return;
    tensor_fn_(Wrap<TRITONSERVER_InferenceTrace>(&trace),
               static_cast<TRITONSERVER_InferenceTraceActivity>(activity), tensor.name,
               abi::ToDataType(tensor.type), tensor.data, tensor.size, tensor.shape.data(),
               tensor.shape.size(), abi::ToMemoryType(tensor.memory_type), tensor.memory_type_id,
               userp_);
  }
  void OnReleased(std::unique_ptr<Trace> trace) noexcept override {
    release_fn_(Wrap<TRITONSERVER_InferenceTrace>(trace.release()), userp_);
  }

 private:
  const TRITONSERVER_InferenceTraceActivityFn_t activity_fn_;
  const TRITONSERVER_InferenceTraceTensorActivityFn_t tensor_fn_;  // NULL: no tensors
  const TRITONSERVER_InferenceTraceReleaseFn_t release_fn_;
  void* const userp_;
};

TRITONSERVER_Error* NewTrace(TRITONSERVER_InferenceTrace** trace,
                             TRITONSERVER_InferenceTraceLevel level, uint64_t parent_id,
                             TRITONSERVER_InferenceTraceActivityFn_t activity_fn,
                             TRITONSERVER_InferenceTraceTensorActivityFn_t tensor_fn,
                             TRITONSERVER_InferenceTraceReleaseFn_t release_fn, void* userp) {
  NEREID_CHECK_NOT_NULL(trace, activity_fn, release_fn);
  return abi::Guard([&] {
    auto listener = std::make_shared<CallbackListener>(activity_fn, tensor_fn, release_fn, userp);
    *trace = Wrap<TRITONSERVER_InferenceTrace>(
        new Trace(std::move(listener), static_cast<uint32_t>(level), parent_id));
    return base::Status::Ok();
  });
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_InferenceTraceNew(
    TRITONSERVER_InferenceTrace** trace, TRITONSERVER_InferenceTraceLevel level, uint64_t parent_id,
    TRITONSERVER_InferenceTraceActivityFn_t activity_fn,
    TRITONSERVER_InferenceTraceReleaseFn_t release_fn, void* trace_userp) {
  return NewTrace(trace, level, parent_id, activity_fn, nullptr, release_fn, trace_userp);
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceTensorNew(
    TRITONSERVER_InferenceTrace** trace, TRITONSERVER_InferenceTraceLevel level, uint64_t parent_id,
    TRITONSERVER_InferenceTraceActivityFn_t activity_fn,
    TRITONSERVER_InferenceTraceTensorActivityFn_t tensor_activity_fn,
    TRITONSERVER_InferenceTraceReleaseFn_t release_fn, void* trace_userp) {
  NEREID_CHECK_NOT_NULL(tensor_activity_fn);
  return NewTrace(trace, level, parent_id, activity_fn, tensor_activity_fn, release_fn,
                  trace_userp);
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceReportActivity(TRITONSERVER_InferenceTrace* trace,
                                                              uint64_t timestamp,
                                                              const char* activity_name) {
  NEREID_CHECK_NOT_NULL(trace, activity_name);
  return abi::Guard([&] {
    Unwrap(trace).ReportCustom(activity_name, timestamp);
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceDelete(TRITONSERVER_InferenceTrace* trace) {
  if (trace != nullptr) delete &Unwrap(trace);
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceId(TRITONSERVER_InferenceTrace* trace,
                                                  uint64_t* id) {
  NEREID_CHECK_NOT_NULL(trace, id);
  *id = Unwrap(trace).id();
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceParentId(TRITONSERVER_InferenceTrace* trace,
                                                        uint64_t* parent_id) {
  NEREID_CHECK_NOT_NULL(trace, parent_id);
  *parent_id = Unwrap(trace).parent_id();
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceModelName(TRITONSERVER_InferenceTrace* trace,
                                                         const char** model_name) {
  NEREID_CHECK_NOT_NULL(trace, model_name);
  *model_name = Unwrap(trace).model_name().c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceModelVersion(TRITONSERVER_InferenceTrace* trace,
                                                            int64_t* model_version) {
  NEREID_CHECK_NOT_NULL(trace, model_version);
  *model_version = Unwrap(trace).model_version();
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceRequestId(TRITONSERVER_InferenceTrace* trace,
                                                         const char** request_id) {
  NEREID_CHECK_NOT_NULL(trace, request_id);
  *request_id = Unwrap(trace).request_id().c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceSpawnChildTrace(
    TRITONSERVER_InferenceTrace* trace, TRITONSERVER_InferenceTrace** child_trace) {
  NEREID_CHECK_NOT_NULL(trace, child_trace);
  return abi::Guard([&] {
    *child_trace = Wrap<TRITONSERVER_InferenceTrace>(Unwrap(trace).SpawnChild().release());
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceSetContext(TRITONSERVER_InferenceTrace* trace,
                                                          const char* trace_context) {
  NEREID_CHECK_NOT_NULL(trace, trace_context);
  return abi::Guard([&] {
    Unwrap(trace).SetContext(trace_context);
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceContext(TRITONSERVER_InferenceTrace* trace,
                                                       const char** trace_context) {
  NEREID_CHECK_NOT_NULL(trace, trace_context);
  *trace_context = Unwrap(trace).context().c_str();
  return nullptr;
}

}  // extern "C"
