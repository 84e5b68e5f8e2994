// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/infer_submission.h"

#include <string>
#include <utility>

#include "api/version_text.h"
#include "base/clock.h"

namespace nereid::frontend::grpc {

codec::proto::InferRequestView& ThreadRequestView() {
  thread_local codec::proto::InferRequestView view;
  return view;
}

base::Result<InferTarget> FindTarget(ServerContext& context,
                                     const codec::proto::InferRequestView& view) {
  if (context.stopping.load(std::memory_order_acquire)) {
    return base::Status::Unavailable(
        "GRPC server is shutting down and has stopped accepting new requests.");
  }
  InferTarget target;
  NEREID_ASSIGN_OR_RETURN(target.version, api::ParseVersionText(view.model_version));
  NEREID_ASSIGN_OR_RETURN(target.traits,
                          context.service.FindModel(std::string(view.model_name), target.version));
  return target;
}

base::Result<std::unique_ptr<request::InferenceRequest>> MakeRequest(
    const ServerContext& context, const codec::proto::InferRequestView& view,
    const InferTarget& target, StoredBytes message, uint64_t deadline_ns,
    codec::proto::InferWishes* wishes) {
  auto request = std::make_unique<request::InferenceRequest>();
  NEREID_RETURN_IF_ERROR(codec::proto::FillInferRequest(view, request.get(), wishes));
  request->model_version = target.version;
  request->deadline_ns = deadline_ns;
  // Several responses may take long, and may have to wait for the client.
  request->may_run_inline = context.options.run_inline && !target.traits.decoupled;
  request->Hold(std::move(message.storage));
  return request;
}

std::shared_ptr<tracing::RequestTrace> StartTrace(const ServerContext& context,
                                                  request::InferenceRequest& request,
                                                  uint64_t wait_start_ns) {
  if (context.options.tracer == nullptr) return nullptr;
  auto trace = context.options.tracer->Start(request);
  // Without a time, tracing was off when the call began.
  if (trace != nullptr && wait_start_ns != 0) {
    trace->Stamp("GRPC_WAITREAD_START", wait_start_ns);
    trace->Stamp("GRPC_WAITREAD_END", base::SteadyClock().NowNs());
  }
  return trace;
}

uint64_t WaitStart(const ServerContext& context) {
  const tracing::RequestTracer* const tracer = context.options.tracer;
  return tracer != nullptr && tracer->active() ? base::SteadyClock().NowNs() : 0;
}

}  // namespace nereid::frontend::grpc
