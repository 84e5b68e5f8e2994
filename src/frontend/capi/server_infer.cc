// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "abi/error.h"
#include "abi/handle.h"
#include "frontend/capi/callback_sink.h"
#include "frontend/capi/handles.h"
#include "request/host_inputs.h"

using namespace nereid;
using namespace nereid::frontend::capi;
using request::InferenceRequest;

namespace {

/// Owns a request while it is submitted. If the service does not take it, or throws, the destructor
/// returns it to the caller.
class Handover {
 public:
  explicit Handover(InferenceRequest* request) : owned_(request) {}
  ~Handover() {
    if (InferenceRequest* mine = owned_.release()) SinkOf(*mine).EndSubmission(*mine);
  }

  base::Status Submit(api::InferenceService& service) {
    NEREID_RETURN_IF_ERROR(request::MoveStringsToHost(*owned_));
    return service.InferInProcess(owned_);
  }

 private:
  std::unique_ptr<InferenceRequest> owned_;
};

/// Takes the ownership of a trace.
TRITONSERVER_Error* Take(TRITONSERVER_InferenceTrace* trace,
                         std::shared_ptr<request::Trace>* taken) {
  return abi::Guard([&] {
    *taken = request::ShareTrace(std::unique_ptr<request::Trace>(&abi::Unwrap(trace)));
    return base::Status::Ok();
  });
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ServerInferAsync(TRITONSERVER_Server* server,
                                                  TRITONSERVER_InferenceRequest* inference_request,
                                                  TRITONSERVER_InferenceTrace* trace) {
  // The trace is taken before anything can fail, so that its release callback comes in any case.
  std::shared_ptr<request::Trace> taken;
  if (trace != nullptr) {
    if (TRITONSERVER_Error* error = Take(trace, &taken)) return error;
  }
  NEREID_CHECK_NOT_NULL(server, inference_request);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* service, ServiceOf(server));
    InferenceRequest& request = abi::Unwrap(inference_request);
    NEREID_RETURN_IF_ERROR(SinkOf(request).BeginSubmission(request));
    if (taken != nullptr) request.SetTrace(std::move(taken));
    return Handover(&request).Submit(*service);
  });
}

}  // extern "C"
