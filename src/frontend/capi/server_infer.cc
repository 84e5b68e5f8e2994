// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "abi/error.h"
#include "frontend/capi/callback_sink.h"
#include "frontend/capi/handles.h"

using namespace nereid;
using namespace nereid::frontend_capi;
using request::InferenceRequest;

namespace {

/// Hands the request to the service; unless the service takes it, it is the caller's again, also
/// when an exception is on its way.
class Handover {
 public:
  explicit Handover(InferenceRequest* request) : owned_(request) {}
  ~Handover() {
    if (InferenceRequest* mine = owned_.release()) SinkOf(*mine).EndSubmission(*mine);
  }

  base::Status Submit(api::InferenceService& service) { return service.InferInProcess(owned_); }

 private:
  std::unique_ptr<InferenceRequest> owned_;
};

TRITONSERVER_Error* Take(TRITONSERVER_InferenceTrace* trace,
                         std::shared_ptr<request::Trace>* taken) {
  return abi::Guard([&] {
    *taken = request::ShareTrace(std::unique_ptr<request::Trace>(Unwrap(trace)));
    return base::Status::Ok();
  });
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ServerInferAsync(TRITONSERVER_Server* server,
                                                  TRITONSERVER_InferenceRequest* inference_request,
                                                  TRITONSERVER_InferenceTrace* trace) {
  // Taken in any case: whatever happens, its release callback comes.
  std::shared_ptr<request::Trace> taken;
  if (trace != nullptr) {
    if (TRITONSERVER_Error* error = Take(trace, &taken)) return error;
  }
  NEREID_CHECK_NOT_NULL(server);
  NEREID_CHECK_NOT_NULL(inference_request);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* service, ServiceOf(server));
    InferenceRequest* request = Unwrap(inference_request);
    NEREID_RETURN_IF_ERROR(SinkOf(*request).BeginSubmission(*request));
    if (taken != nullptr) request->SetTrace(std::move(taken));
    return Handover(request).Submit(*service);
  });
}

}  // extern "C"
