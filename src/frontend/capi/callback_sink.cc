// SPDX-License-Identifier: Apache-2.0
#include "frontend/capi/callback_sink.h"

#include <utility>

#include "abi/error.h"
#include "abi/handle.h"
#include "abi/response_allocator.h"
#include "abi/tensor_types.h"
#include "base/log.h"
#include "frontend/capi/handles.h"
#include "memory/gpu/copy.h"

namespace nereid::frontend::capi {

using request::InferenceRequest;
using request::InferenceResponse;
using request::Output;

CallbackSink& SinkOf(InferenceRequest& request) {
  return static_cast<CallbackSink&>(*request.sink());
}

base::Status CallbackSink::BeginSubmission(InferenceRequest& request) {
  if (callbacks_.release_fn == nullptr) {
    return base::Status::InvalidArgument(request.LogPrefix() +
                                         "the request has no release callback; set it with "
                                         "TRITONSERVER_InferenceRequestSetReleaseCallback");
  }
  if (callbacks_.response_fn == nullptr) {
    return base::Status::InvalidArgument(request.LogPrefix() +
                                         "the request has no response callback; set it with "
                                         "TRITONSERVER_InferenceRequestSetResponseCallback");
  }
  if (in_flight_.exchange(true, std::memory_order_acq_rel)) {
    return base::Status::InvalidArgument(
        "the request is in flight; submit it again after its release callback");
  }
  // A cancellation concerns one submission only, and the responses of an earlier submission may
  // still use its Cancellation.
  if (was_submitted_ || request.IsCancelled()) request.PrepareForReuse();
  was_submitted_ = true;
  wants_all_outputs_ = request.requested_outputs.empty();
  if (request.inputs().is_raw()) {
    const request::Input& input = request.inputs()[0];
    raw_input_ = RawInput{input.name, input.pieces};
  }
  return base::Status::Ok();
}

void CallbackSink::EndSubmission(InferenceRequest& request) {
  request.Unbind();
  if (wants_all_outputs_) request.requested_outputs.clear();
  if (raw_input_) {
    request.inputs().Clear();
    auto input = request.AddRawInput(raw_input_->name);
    if (input.ok()) (*input)->pieces = std::move(raw_input_->pieces);
    raw_input_.reset();
  }
  in_flight_.store(false, std::memory_order_release);
}

void CallbackSink::Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept {
  // The callee may delete the response, and with it the last reference to this sink: no member may
  // be used afterwards.
  callbacks_.response_fn(abi::Wrap<TRITONSERVER_InferenceResponse>(response.release()),
                         final ? TRITONSERVER_RESPONSE_COMPLETE_FINAL : 0,
                         callbacks_.response_userp);
}

void CallbackSink::RequestReleased(std::unique_ptr<InferenceRequest> request) noexcept {
  // The callee may delete the request, which owns this sink.
  const std::shared_ptr<ResponseSink> keep = request->sink();
  InferenceRequest* const raw = request.release();
  EndSubmission(*raw);
  callbacks_.release_fn(abi::Wrap<TRITONSERVER_InferenceRequest>(raw),
                        TRITONSERVER_REQUEST_RELEASE_ALL, callbacks_.release_userp);
}

base::Status CallbackSink::ResponseStarted() noexcept {
  TRITONSERVER_ResponseAllocator* allocator = callbacks_.allocator;
  if (allocator->start_fn == nullptr) return base::Status::Ok();
  return abi::TakeStatus(allocator->start_fn(allocator, callbacks_.allocator_userp));
}

base::Status CallbackSink::AllocateOutput(Output* output, size_t size) noexcept {
  TRITONSERVER_ResponseAllocator* allocator = callbacks_.allocator;
  void* buffer = nullptr;
  void* buffer_userp = nullptr;
  TRITONSERVER_MemoryType type = abi::ToMemoryType(output->memory_type);
  int64_t id = output->memory_type_id;
  NEREID_RETURN_IF_ERROR(abi::TakeStatus(allocator->alloc_fn(allocator, output->name.c_str(), size,
                                                             type, id, callbacks_.allocator_userp,
                                                             &buffer, &buffer_userp, &type, &id)));
  output->data = static_cast<char*>(buffer);
  output->allocator_data = buffer_userp;
  output->memory_type = abi::ToMemoryType(type);
  output->memory_type_id = id;
  base::Status status;
  if (!abi::IsMemoryType(type)) {
    status = base::Status::Internal("the response allocator gave output '" + output->name +
                                    "' the unknown memory type " +
                                    std::to_string(static_cast<int>(type)));
  } else {
    status = CompleteAttributes(output, size);
  }
  // InferenceResponse does not release an output whose allocation failed, so it is done here.
  if (!status.ok()) ReleaseBuffer(*output, size);
  return status;
}

base::Status CallbackSink::LendOutput(Output* output, request::LentBytes bytes) noexcept {
  output->memory_type = bytes.memory_type;
  output->memory_type_id = bytes.memory_type_id;
  NEREID_RETURN_IF_ERROR(AllocateOutput(output, bytes.size));
  if (output->data == nullptr && bytes.size > 0) {
    ReleaseBuffer(*output, bytes.size);
    return base::Status::Internal("the response allocator gave output '" + output->name +
                                  "' no buffer; it needs " + std::to_string(bytes.size) + " bytes");
  }
  const base::Status copied =
      memory::CopyBytes({output->data, output->memory_type, output->memory_type_id},
                        {bytes.data, bytes.memory_type, bytes.memory_type_id}, bytes.size);
  if (copied.ok()) return copied;
  ReleaseBuffer(*output, bytes.size);
  return copied.WithPrefix("output '" + output->name +
                           "' cannot be written to the memory of the response allocator: ");
}

base::Status CallbackSink::CompleteAttributes(Output* output, size_t size) {
  TRITONSERVER_ResponseAllocator* allocator = callbacks_.allocator;
  if (allocator->buffer_attributes_fn == nullptr) return base::Status::Ok();
  auto attributes = std::make_unique<memory::BufferAttributes>();
  attributes->memory_type = output->memory_type;
  attributes->memory_type_id = output->memory_type_id;
  attributes->byte_size = size;
  NEREID_RETURN_IF_ERROR(abi::TakeStatus(allocator->buffer_attributes_fn(
      allocator, output->name.c_str(), abi::Wrap<TRITONSERVER_BufferAttributes>(attributes.get()),
      callbacks_.allocator_userp, output->allocator_data)));
  output->attributes = std::move(attributes);
  return base::Status::Ok();
}

void CallbackSink::ReleaseOutput(Output* output) noexcept { ReleaseBuffer(*output, output->size); }

void CallbackSink::ReleaseBuffer(const Output& output, size_t size) const {
  const base::Status status = abi::TakeStatus(callbacks_.allocator->release_fn(
      callbacks_.allocator, output.data, output.allocator_data, size,
      abi::ToMemoryType(output.memory_type), output.memory_type_id));
  if (!status.ok()) {
    LOG_ERROR << "the response allocator failed to release the buffer of output '" << output.name
              << "': " << status.message();
  }
}

base::Status CallbackSink::QueryOutput(std::string_view name, size_t* size,
                                       memory::MemoryType* type, int64_t* id) noexcept {
  TRITONSERVER_ResponseAllocator* allocator = callbacks_.allocator;
  if (allocator->query_fn == nullptr) {
    return base::Status::Unavailable("Output properties are not available");
  }
  const std::string text(name);
  TRITONSERVER_MemoryType asked = abi::ToMemoryType(*type);
  NEREID_RETURN_IF_ERROR(abi::TakeStatus(allocator->query_fn(allocator, callbacks_.allocator_userp,
                                                             text.empty() ? nullptr : text.c_str(),
                                                             size, &asked, id)));
  if (!abi::IsMemoryType(asked)) {
    return base::Status::Internal("the response allocator names the unknown memory type " +
                                  std::to_string(static_cast<int>(asked)));
  }
  *type = abi::ToMemoryType(asked);
  return base::Status::Ok();
}

}  // namespace nereid::frontend::capi
