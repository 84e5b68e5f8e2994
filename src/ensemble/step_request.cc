// SPDX-License-Identifier: Apache-2.0
#include "ensemble/step_request.h"

#include <utility>

#include "ensemble/adapt_shape.h"

namespace nereid::ensemble {

SequenceFields SequenceOf(const request::InferenceRequest& ensemble,
                          const EnsembleRun::StepStart& start) {
  const SequenceFields own{ensemble.correlation_id, ensemble.flags};
  SequenceFields fields = own;
  for (const TensorPtr& input : start.inputs) {
    if (input == nullptr) continue;
    const SequenceFields& brought = static_cast<const EnsembleTensor&>(*input).sequence;
    // Fields that a model has changed take precedence over the request's own.
    if (brought.correlation_id != own.correlation_id || brought.flags != own.flags) {
      fields = brought;
    }
  }
  return fields;
}

std::unique_ptr<request::InferenceRequest> MakeStepRequest(
    const request::InferenceRequest& ensemble, const EnsemblePlan::Step& step,
    const EnsembleRun::StepStart& start, const config::ModelConfig& member,
    std::shared_ptr<request::ResponseSink> sink) {
  auto request = std::make_unique<request::InferenceRequest>();
  request->has_gpu_memory = ensemble.has_gpu_memory;
  request->model_name = step.model;
  request->model_version = step.version;
  request->id = ensemble.id;
  request->priority = ensemble.priority;
  request->timeout_us = ensemble.timeout_us;
  request->deadline_ns = ensemble.deadline_ns;
  request->parameters = ensemble.parameters;
  SequenceFields sequence = SequenceOf(ensemble, start);
  request->correlation_id = std::move(sequence.correlation_id);
  request->flags = sequence.flags;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (start.inputs[i] == nullptr) continue;
    const auto& from = static_cast<const EnsembleTensor&>(*start.inputs[i]);
    const std::string& name = step.inputs[i].name;
    const config::TensorSpec* const spec = member.FindInput(name);
    tensor::Shape shape = spec == nullptr ? from.shape
                                          : AdaptShape(from.shape, from.batching, spec->dims,
                                                       member.max_batch_size() > 0);
    auto added = request->AddInput(name, from.type, std::move(shape));
    if (!added.ok()) continue;  // cannot happen: the names are keys of a map
    (*added)->pieces = from.pieces;
    if (from.memory_type == memory::MemoryType::kGpu) request->has_gpu_memory = true;
    request->Hold(std::shared_ptr<const void>(start.inputs[i]));
  }
  for (const EnsemblePlan::Mapping& output : step.outputs) {
    request->requested_outputs.push_back(output.name);
  }
  request->has_shared_memory = ensemble.has_shared_memory;
  request->SetSink(std::move(sink));
  request::TraceStep(ensemble, *request);
  return request;
}

}  // namespace nereid::ensemble
