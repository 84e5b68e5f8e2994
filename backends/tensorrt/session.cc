// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/session.h"

#include <algorithm>

#include "nereid/backend/data_type.h"
#include "nereid/backend/log.h"
#include "tensorrt/shape_values.h"

namespace nereid::tensorrt {

Error TensorRtSession::Create(std::shared_ptr<const framework::RunPlan> plan, EngineLease engine,
                              const Options& options,
                              std::unique_ptr<framework::Session>* session) {
  std::unique_ptr<TensorRtSession> made(new TensorRtSession(std::move(plan), std::move(engine)));
  NEREID_BACKEND_TRY(made->Prepare(options));
  *session = std::move(made);
  return {};
}

TensorRtSession::~TensorRtSession() {
  CurrentGpu current;
  current.EnterToFree(lease_.gpu);
  if (streams_ != nullptr) {
    const Error ignored = streams_->Settle();
  }
  executions_.clear();
  streams_.reset();
}

Error TensorRtSession::Prepare(const Options& options) {
  // The driver limits a priority to its range.
  constexpr int kMostUrgent = -1000;
  streams_ = std::make_unique<Streams>(lease_.gpu);
  NEREID_BACKEND_TRY(
      streams_->Create(options.busy_wait, options.output_stream, options.priority * kMostUrgent));
  for (const int index : lease_.profiles) {
    NEREID_BACKEND_TRY(lease_.engine->ReadProfile(index, &profiles_.emplace_back()));
    NEREID_BACKEND_TRY(Execution::Create(lease_.engine.get(), lease_.gpu, streams_.get(), index,
                                         options.execution, &executions_.emplace_back()));
  }
  for (const EngineTensor& input : lease_.engine->inputs()) {
    names_.push_back(input.signature.name);
  }
  slots_.resize(names_.size());
  inputs_.resize(names_.size());
  numbers_.resize(names_.size());
  return options.graphs ? CaptureGraphs(options) : Error();
}

Error TensorRtSession::CaptureGraphs(const Options& options) {
  const bool ragged = std::any_of(plan_->inputs.begin(), plan_->inputs.end(),
                                  [](const auto& input) { return input.ragged || input.derived; });
  if (ragged && options.graph_specs.empty()) {
    NEREID_BACKEND_LOG(WARN, "model '" + plan_->model_name +
                                 "': optimization.cuda.graphs needs a graph_spec for a model with "
                                 "ragged batches; no CUDA graph is captured");
    return {};
  }
  if (!lease_.shares_profiles) {
    NEREID_BACKEND_LOG(WARN,
                       "model '" + plan_->model_name +
                           "': no CUDA graph is captured: a graph needs an execution context of "
                           "its own, and only one may use a profile of this plan; build it with "
                           "TensorRT 10 or newer");
    return {};
  }
  size_t count = 0;
  for (size_t i = 0; i < profiles_.size(); ++i) {
    std::vector<GraphRange> ranges;
    NEREID_BACKEND_TRY(MakeGraphRanges(options.graph_specs, lease_.engine->inputs(),
                                       options.max_batch_size, profiles_[i], &ranges));
    count += ranges.size();
    NEREID_BACKEND_TRY(executions_[i]->CaptureGraphs(std::move(ranges)));
  }
  if (count == 0) {
    NEREID_BACKEND_LOG(WARN,
                       "model '" + plan_->model_name +
                           "': no profile accepts the shapes of optimization.cuda.graph_spec; "
                           "no CUDA graph is captured");
  }
  return {};
}

Error TensorRtSession::TakeShapeTensor(const framework::InputTensor& tensor, size_t place,
                                       int64_t batch_size) {
  Slot& slot = slots_[place];
  std::vector<int64_t>& numbers = numbers_[place];
  numbers = ReadNumbers(tensor.data_type, {tensor.data, tensor.size});
  const bool scalar = lease_.engine->inputs()[place].signature.dims.empty();
  if (!scalar && slot.shape.size() != 1) {
    return Error::InvalidArgument("the shape tensor '" + names_[place] +
                                  "' must have one dimension, not the shape " +
                                  backend::ShapeText(slot.shape));
  }
  if (plan_->batching && !scalar) {
    numbers.insert(numbers.begin(), batch_size);
    slot.shape[0] += 1;
  }
  WriteNumbers(tensor.data_type, numbers, &slot.values);
  inputs_[place] = {slot.shape, slot.values.data(), slot.values.size()};
  return {};
}

/// Checks that the engine will not read beyond an input.
Error TensorRtSession::CheckSize(const RunInput& input, size_t place) const {
  const EngineTensor& tensor = lease_.engine->inputs()[place];
  const int64_t size = tensor.ByteSize(input.shape);
  if (size >= 0 && static_cast<uint64_t>(size) == input.size) {
    return {};
  }
  return Error::InvalidArgument(
      "input '" + names_[place] + "' of shape " + backend::ShapeText(input.shape) + " has " +
      std::to_string(input.size) + " bytes, but " + std::to_string(size) + " bytes in the format " +
      (tensor.layout.linear ? "of the protocol" : "'" + tensor.layout.text + "'") +
      " of the engine");
}

Error TensorRtSession::TakeInputs(std::span<const framework::InputTensor> inputs) {
  batch_size_ = 1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const framework::PlannedInput& plan = plan_->inputs[i];
    Slot& slot = slots_[plan.place];
    slot.shape.assign(inputs[i].shape.begin(), inputs[i].shape.end());
    numbers_[plan.place] = slot.shape;
    inputs_[plan.place] = {slot.shape, inputs[i].data, inputs[i].size, inputs[i].gpu >= 0};
    if (plan_->batching && !plan.shape_tensor && !plan.ragged && !plan.derived &&
        !slot.shape.empty()) {
      batch_size_ = slot.shape[0];
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t place = plan_->inputs[i].place;
    if (plan_->inputs[i].shape_tensor) {
      NEREID_BACKEND_TRY(TakeShapeTensor(inputs[i], place, batch_size_));
    }
    NEREID_BACKEND_TRY(CheckSize(inputs_[place], place));
  }
  return {};
}

/// Converts a shape tensor of a model that batches from [batch size, values...] to the values for
/// each batch item, as clients get them.
Error TensorRtSession::SpreadShapeTensor(const framework::PlannedOutput& plan,
                                         framework::OutputTensor* result) const {
  std::vector<int64_t> numbers =
      ReadNumbers(result->data_type, {result->data, static_cast<size_t>(result->size)});
  // A CUDA graph may have computed a larger batch.
  if (numbers.empty() || numbers[0] < batch_size_) {
    return Error::Internal("the shape tensor '" + plan.name + "' of the engine begins with " +
                           (numbers.empty() ? "nothing" : std::to_string(numbers[0])) +
                           ", which should be the batch size " + std::to_string(batch_size_));
  }
  numbers.erase(numbers.begin());
  std::string row;
  WriteNumbers(result->data_type, numbers, &row);
  auto rows = std::make_shared<std::string>();
  for (int64_t i = 0; i < batch_size_; ++i) {
    *rows += row;
  }
  result->shape = {batch_size_, static_cast<int64_t>(numbers.size())};
  result->data = rows->data();
  result->size = rows->size();
  result->owner = std::move(rows);
  return {};
}

Error TensorRtSession::Run(std::span<const framework::InputTensor> inputs,
                           std::span<const size_t> outputs,
                           std::span<framework::OutputTensor> results) {
  CurrentGpu current;  // the thread may have executed an instance on another GPU before
  NEREID_BACKEND_TRY(current.Enter(lease_.gpu));
  NEREID_BACKEND_TRY(TakeInputs(inputs));
  size_t chosen = 0;
  NEREID_BACKEND_TRY(ChooseProfile(profiles_, names_, numbers_, &chosen));
  std::vector<size_t> places;
  for (const size_t output : outputs) {
    places.push_back(plan_->outputs[output].place);
  }
  NEREID_BACKEND_TRY(executions_[chosen]->Run(inputs_, numbers_, places, results));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const framework::PlannedOutput& plan = plan_->outputs[outputs[i]];
    if (plan.shape_tensor && plan_->batching && results[i].shape.size() == 1) {
      NEREID_BACKEND_TRY(SpreadShapeTensor(plan, &results[i]));
    }
  }
  return {};
}

}  // namespace nereid::tensorrt
