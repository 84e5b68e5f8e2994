// SPDX-License-Identifier: Apache-2.0
#include "request/inference_request.h"

namespace nereid::request {
namespace {

base::Result<Input*> Named(const InferenceRequest& request, base::Result<Input*> added) {
  if (added.ok()) return added;
  return added.status().WithPrefix(request.LogPrefix());
}

}  // namespace

InferenceRequest::InferenceRequest() : cancellation_(std::make_shared<Cancellation>()) {}

InferenceRequest::~InferenceRequest() = default;

base::Result<Input*> InferenceRequest::AddInput(std::string_view name, tensor::DataType type,
                                                tensor::Shape shape) {
  return Named(*this, inputs_.Add(name, type, std::move(shape)));
}

base::Result<Input*> InferenceRequest::AddRawInput(std::string_view name) {
  return Named(*this, inputs_.AddRaw(name));
}

base::Status InferenceRequest::RemoveInput(std::string_view name) {
  return inputs_.Remove(name).WithPrefix(LogPrefix());
}

std::shared_ptr<const void> InferenceRequest::ShareHeld() {
  struct Held {
    std::vector<memory::HostBuffer> buffers;
    std::vector<std::shared_ptr<const void>> objects;
  };
  auto held = std::make_shared<Held>();
  held->buffers = std::move(held_buffers_);
  held->objects = std::move(held_objects_);
  held_buffers_.clear();
  held_objects_.assign(1, held);
  return held;
}

void InferenceRequest::SetSink(std::shared_ptr<ResponseSink> sink) { sink_ = std::move(sink); }

void InferenceRequest::Bind(std::shared_ptr<const ModelIdentity> model,
                            std::shared_ptr<ResponseFactory> factory) {
  model_ = std::move(model);
  response_factory_ = std::move(factory);
}

void InferenceRequest::Unbind() {
  inputs_.Restore();
  response_factory_.reset();
  model_.reset();
  trace_.reset();
}

void InferenceRequest::PrepareForReuse() {
  Unbind();
  cancellation_ = std::make_shared<Cancellation>();
  times = {};
  batch_size = 0;
}

void InferenceRequest::TraceSubmission(uint64_t now_ns) {
  times.queue_ns = now_ns;
  trace_->Report(TraceActivity::kRequestStart, times.start_ns);
  trace_->Report(TraceActivity::kQueueStart, now_ns);
  trace_->ReportInputs(TraceActivity::kTensorQueueInput, inputs_);
}

void TraceStep(const InferenceRequest& whole, InferenceRequest& step) {
  if (whole.trace() != nullptr) step.SetTrace(ShareTrace(whole.trace()->SpawnChild()));
}

}  // namespace nereid::request
