// SPDX-License-Identifier: Apache-2.0
#include "request/inference_request.h"

#include <algorithm>

#include "request/sequence_states.h"

namespace nereid::request {
namespace {

template <typename Inputs>
auto* FindByName(Inputs& inputs, std::string_view name) {
  // Searches from the end: an input added by the server replaces one of the same name that the
  // client sent.
  const auto found = std::find_if(inputs.rbegin(), inputs.rend(),
                                  [name](const Input& input) { return input.name == name; });
  return found == inputs.rend() ? nullptr : &*found;
}

}  // namespace

std::string CorrelationIdText(const CorrelationId& id) {
  const auto* number = std::get_if<uint64_t>(&id);
  return number != nullptr ? std::to_string(*number) : std::get<std::string>(id);
}

InferenceRequest::InferenceRequest() : cancellation_(std::make_shared<Cancellation>()) {}

InferenceRequest::~InferenceRequest() = default;

base::Result<Input*> InferenceRequest::AddInput(std::string_view name, tensor::DataType type,
                                                tensor::Shape shape) {
  if (is_raw_) {
    return base::Status::InvalidArgument(LogPrefix() + "input '" + std::string(name) +
                                         "' cannot be added to a raw request, which has one "
                                         "nameless input");
  }
  const auto name_of = [](const Input& input) -> std::string_view { return input.name; };
  if (input_names_.Find(inputs_, name, name_of)) {
    return base::Status::InvalidArgument(LogPrefix() + "input '" + std::string(name) +
                                         "' already exists in request");
  }
  Input& input = inputs_.emplace_back();
  input.name = name;
  input.type = type;
  input.shape = std::move(shape);
  return &input;
}

base::Result<Input*> InferenceRequest::AddRawInput(std::string_view name) {
  if (!inputs_.empty()) {
    return base::Status::InvalidArgument(LogPrefix() + "raw input '" + std::string(name) +
                                         "' can't be added to request with other inputs");
  }
  is_raw_ = true;
  Input& input = inputs_.emplace_back();
  input.name = name;
  return &input;
}

Input* InferenceRequest::FindInput(std::string_view name) { return FindByName(inputs_, name); }

const Input* InferenceRequest::FindInput(std::string_view name) const {
  return FindByName(inputs_, name);
}

base::Status InferenceRequest::RemoveInput(std::string_view name) {
  input_names_.Clear();
  const auto erased =
      std::erase_if(inputs_, [name](const Input& input) { return input.name == name; });
  if (erased == 0) {
    return base::Status::InvalidArgument(LogPrefix() + "input '" + std::string(name) +
                                         "' does not exist in request");
  }
  if (inputs_.empty()) is_raw_ = false;
  return base::Status::Ok();
}

void InferenceRequest::RemoveAllInputs() {
  input_names_.Clear();
  inputs_.clear();
  is_raw_ = false;
}

Input* InferenceRequest::AddServerInput(std::string_view name, tensor::DataType type,
                                        tensor::Shape shape) {
  ++server_inputs_;
  Input& input = inputs_.emplace_back();
  input.name = name;
  input.type = type;
  input.model_shape = shape;
  input.shape = std::move(shape);
  return &input;
}

void InferenceRequest::AddStateInputs() {
  for (size_t i = 0; i < states->size(); ++i) {
    const SequenceStates::CurrentValue value = states->value(i);
    Input* const input = AddServerInput(value.spec.input_name, value.spec.data_type, value.shape);
    if (value.size > 0) input->Append(value.data, value.size);
  }
}

void InferenceRequest::RemoveServerInputs() {
  input_names_.Clear();
  inputs_.erase(inputs_.end() - static_cast<std::ptrdiff_t>(server_inputs_), inputs_.end());
  server_inputs_ = 0;
}

void InferenceRequest::SetSink(std::shared_ptr<ResponseSink> sink) { sink_ = std::move(sink); }

std::string InferenceRequest::LogPrefix() const {
  return "[request id: " + (id.empty() ? std::string("<id_unknown>") : id) + "] ";
}

void InferenceRequest::Bind(std::shared_ptr<const ModelIdentity> model,
                            std::shared_ptr<ResponseFactory> factory) {
  model_ = std::move(model);
  response_factory_ = std::move(factory);
}

void InferenceRequest::TraceSubmission(uint64_t now_ns) {
  times.queue_ns = now_ns;
  trace_->Report(TraceActivity::kRequestStart, times.start_ns);
  trace_->Report(TraceActivity::kQueueStart, now_ns);
  trace_->ReportInputs(TraceActivity::kTensorQueueInput, inputs_);
}

void InferenceRequest::PrepareForReuse() {
  Unbind();
  cancellation_ = std::make_shared<Cancellation>();
  times = {};
  batch_size = 0;
}

void TraceStep(const InferenceRequest& whole, InferenceRequest& step) {
  if (whole.trace() != nullptr) step.SetTrace(ShareTrace(whole.trace()->SpawnChild()));
}

}  // namespace nereid::request
