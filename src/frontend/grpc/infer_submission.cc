// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/infer_submission.h"

#include <string>
#include <utility>

#include "api/header_forwarding.h"
#include "api/sequence_field.h"
#include "api/shared_memory.h"
#include "api/version_text.h"
#include "base/byte_budget.h"
#include "base/clock.h"
#include "codec/proto/message_shape.h"

namespace nereid::frontend::grpc {
namespace {

constexpr size_t kMaxLightMessage = size_t{64} << 10;
// Checking short strings takes about a nanosecond for each byte.
constexpr size_t kMaxLightRawStrings = size_t{1} << 20;

}  // namespace

codec::proto::InferRequestView& ThreadRequestView() {
  thread_local codec::proto::InferRequestView view;
  return view;
}

base::Status ParseRequest(const StoredBytes& message, codec::proto::InferRequestView* view) {
  NEREID_RETURN_IF_ERROR(view->Parse(message.bytes));
  std::vector<std::string_view>& raw = view->raw_input_contents;
  raw.insert(raw.begin(), message.tensors.begin(), message.tensors.end());
  return base::Status::Ok();
}

base::Result<InferTarget> FindTarget(ServerContext& context,
                                     const codec::proto::InferRequestView& view) {
  if (context.stopping.load(std::memory_order_acquire)) {
    return base::Status::Unavailable(
        "GRPC server is shutting down and has stopped accepting new requests.");
  }
  InferTarget target;
  const std::string model(view.model_name);
  NEREID_ASSIGN_OR_RETURN(
      target.version,
      context.service.ResolveVersion(model, view.model_version, api::LabelUse::kInference));
  NEREID_ASSIGN_OR_RETURN(target.traits, context.service.FindModel(model, target.version));
  return target;
}

base::Status FillRequest(const ServerContext& context, const codec::proto::InferRequestView& view,
                         const InferTarget& target, StoredBytes message, const CallFacts& call,
                         request::InferenceRequest* request,
                         codec::proto::ResponseOptions* response_options) {
  NEREID_RETURN_IF_ERROR(codec::proto::FillInferRequest(view, request, response_options));
  NEREID_RETURN_IF_ERROR(api::ForwardFields(call.fields, request));
  NEREID_RETURN_IF_ERROR(api::TakeSequenceId(call.fields, context.options.sequence_field, request));
  request->model_version = target.version;
  if (api::IsVersionLabel(view.model_version)) request->model_label = view.model_version;
  request->deadline_ns = call.deadline_ns;
  // A decoupled model may take long, and may have to wait for the client.
  request->may_run_inline =
      context.options.run_inline && !target.traits.decoupled && !base::ThreadMayBlock();
  request->Hold(std::move(message.storage));
  if (!message.tensor_storage) return base::Status::Ok();
  const std::string_view shared(message.tensor_storage.data(), message.tensor_storage.size());
  request->Hold(std::move(message.tensor_storage));
  return api::MarkShared(shared, *request);
}

base::Status Counted(ServerContext& context, api::RefusedAt at, base::Status status) {
  api::RefusedRequests* const refused = context.service.controls().refused;
  if (!status.ok() && refused != nullptr) refused->Count(api::FrontEnd::kGrpc, at, status.code());
  return status;
}

bool IsHeavy(const StoredBytes& message) {
  if (message.wire_size <= kMaxLightMessage) return false;
  const codec::proto::MessageShape shape = codec::proto::ShapeOf(message.bytes);
  const size_t raw_bytes = shape.raw_bytes + message.tensor_storage.size();
  return !shape.known || shape.structure_bytes > kMaxLightMessage ||
         (shape.has_bytes_input && raw_bytes > kMaxLightRawStrings);
}

std::unique_ptr<const tracing::TraceHeaders> TraceHeadersOf(const ServerContext& context,
                                                            const RequestHead& head) {
  const tracing::RequestTracer* const tracer = context.options.tracer;
  if (head.trace.parent.empty() || tracer == nullptr || !tracer->reads_headers()) return nullptr;
  return std::make_unique<const tracing::TraceHeaders>(head.trace);
}

std::shared_ptr<tracing::RequestTrace> StartTrace(const ServerContext& context,
                                                  request::InferenceRequest& request,
                                                  uint64_t wait_start_ns,
                                                  const tracing::TraceHeaders* headers) {
  if (context.options.tracer == nullptr) return nullptr;
  auto trace = context.options.tracer->Start(request, headers);
  // The time is 0 if tracing was off when the call began.
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
