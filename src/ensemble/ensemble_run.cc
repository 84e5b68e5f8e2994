// SPDX-License-Identifier: Apache-2.0
#include "ensemble/ensemble_run.h"

#include <algorithm>

namespace nereid::ensemble {

EnsembleRun::EnsembleRun(const EnsemblePlan& plan, std::vector<size_t> outputs)
    : plan_(plan),
      outputs_(std::move(outputs)),
      needed_(plan.StepsFor(outputs_)),
      tensors_(plan.tensors().size()),
      next_iteration_(plan.steps().size(), 0),
      answered_(plan.steps().size(), false) {
  bool any_output_repeats = false;
  for (const size_t output : outputs_) {
    any_output_repeats = any_output_repeats || Repeats(output);
  }
  // `readers` counts the steps and the response that take a tensor in each iteration; after the
  // last one the tensor is dropped. A tensor that is made once but read by repeated steps or
  // responses has no last reader, so it is kept.
  for (size_t i = 0; i < tensors_.size(); ++i) {
    TensorState& state = tensors_[i];
    for (const size_t step : plan_.tensors()[i].consumers) {
      if (!needed_[step]) continue;
      ++state.readers;
      if (plan_.steps()[step].origin != kNoStep && !Repeats(i)) state.is_kept = true;
    }
  }
  for (const size_t output : outputs_) {
    TensorState& state = tensors_[output];
    state.requested = true;
    ++state.readers;
    if (any_output_repeats && !Repeats(output)) state.is_kept = true;
  }
}

void EnsembleRun::Begin(const std::vector<std::pair<size_t, TensorPtr>>& inputs) {
  begun_ = true;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (plan_.tensors()[i].producer != kNoStep) continue;
    const auto given = std::find_if(inputs.begin(), inputs.end(),
                                    [i](const auto& input) { return input.first == i; });
    Put(i, 0, given == inputs.end() ? nullptr : given->second);
  }
}

std::optional<EnsembleRun::StepStart> EnsembleRun::TakeStart() {
  if (ready_.empty()) return std::nullopt;
  Ready ready = std::move(ready_.front());
  ready_.pop_front();
  running_.emplace(ready.start.id, Running{ready.start.step, ready.iteration, false});
  return std::move(ready.start);
}

EnsembleRun::Running* EnsembleRun::FindRunning(size_t id) {
  const auto found = running_.find(id);
  return found == running_.end() ? nullptr : &found->second;
}

base::Status EnsembleRun::OnResponse(size_t id, std::vector<TensorPtr> outputs) {
  Running* const running = FindRunning(id);
  if (running == nullptr || failed()) return base::Status::Ok();
  const EnsemblePlan::Step& step = plan_.steps()[running->step];
  if (running->answered && !step.decoupled) {
    return base::Status::Internal("sent more than one response, although it is not decoupled");
  }
  running->answered = true;
  answered_[running->step] = true;
  // A decoupled step begins iterations of its own; other steps keep the iteration of their inputs.
  const uint64_t iteration = step.decoupled ? next_iteration_[running->step]++ : running->iteration;
  for (size_t i = 0; i < step.outputs.size() && i < outputs.size(); ++i) {
    // An absent output is stored as null: it makes later steps ready too.
    Put(step.outputs[i].tensor, iteration, std::move(outputs[i]));
  }
  return base::Status::Ok();
}

void EnsembleRun::OnFinished(size_t id) { running_.erase(id); }

void EnsembleRun::Fail(base::Status error) {
  if (failed()) return;
  error_ = std::move(error);
  ready_.clear();
  responses_.clear();
  for (TensorState& state : tensors_) state.slots.clear();
}

std::optional<EnsembleRun::Response> EnsembleRun::TakeResponse() {
  // The only response of an ensemble that is not decoupled waits for the end, because a step may
  // still fail.
  if (responses_.empty() || (!plan_.decoupled() && !IsOver())) return std::nullopt;
  Response response = std::move(responses_.front());
  responses_.pop_front();
  return response;
}

bool EnsembleRun::IsStuck() const { return !failed() && !responded_ && !plan_.decoupled(); }

int EnsembleRun::SilentStep() const {
  for (size_t i = 0; i < needed_.size(); ++i) {
    const auto& inputs = plan_.steps()[i].inputs;
    const bool could_run = std::all_of(inputs.begin(), inputs.end(), [&](const auto& input) {
      const int producer = plan_.tensors()[input.tensor].producer;
      return producer == kNoStep || answered_[static_cast<size_t>(producer)];
    });
    if (needed_[i] && could_run && !answered_[i]) return static_cast<int>(i);
  }
  return kNoStep;
}

size_t EnsembleRun::held_tensors() const {
  size_t count = 0;
  const auto add = [&count](const std::vector<TensorPtr>& values) {
    count += values.size() - static_cast<size_t>(std::count(values.begin(), values.end(), nullptr));
  };
  for (const TensorState& state : tensors_) {
    for (const auto& [iteration, slot] : state.slots) count += slot.value != nullptr;
  }
  for (const Ready& ready : ready_) add(ready.start.inputs);
  for (const Response& response : responses_) add(response);
  return count;
}

EnsembleRun::Slot* EnsembleRun::Find(size_t tensor, uint64_t iteration) {
  std::map<uint64_t, Slot>& slots = tensors_[tensor].slots;
  const auto found = slots.find(Repeats(tensor) ? iteration : 0);
  return found == slots.end() ? nullptr : &found->second;
}

TensorPtr EnsembleRun::Read(size_t tensor, uint64_t iteration) {
  TensorState& state = tensors_[tensor];
  const auto slot = state.slots.find(Repeats(tensor) ? iteration : 0);
  if (state.is_kept || --slot->second.readers > 0) return slot->second.value;
  TensorPtr value = std::move(slot->second.value);
  state.slots.erase(slot);
  return value;
}

template <typename Visit>
void EnsembleRun::ForIterations(size_t tensor, uint64_t iteration,
                                const std::vector<size_t>& others, Visit visit) {
  if (Repeats(tensor)) return visit(iteration);
  const auto repeating =
      std::find_if(others.begin(), others.end(), [this](size_t other) { return Repeats(other); });
  if (repeating == others.end()) return visit(uint64_t{0});
  // A tensor that exists once may arrive after several iterations of a repeated one, which have
  // waited for it. Their numbers are copied, because visit() changes the slots.
  std::vector<uint64_t> iterations;
  for (const auto& waiting : tensors_[*repeating].slots) iterations.push_back(waiting.first);
  for (const uint64_t waiting : iterations) visit(waiting);
}

void EnsembleRun::Put(size_t tensor, uint64_t iteration, TensorPtr value) {
  TensorState& state = tensors_[tensor];
  // Nothing needs this tensor.
  if (state.readers == 0) return;
  state.slots.insert_or_assign(iteration, Slot{std::move(value), state.readers});
  for (const size_t step : plan_.tensors()[tensor].consumers) {
    if (!needed_[step]) continue;
    std::vector<size_t> inputs;
    for (const auto& input : plan_.steps()[step].inputs) inputs.push_back(input.tensor);
    ForIterations(tensor, iteration, inputs, [&](uint64_t k) { StartIfReady(step, k); });
  }
  if (!state.requested) return;
  ForIterations(tensor, iteration, outputs_, [&](uint64_t k) { RespondIfComplete(k); });
}

void EnsembleRun::StartIfReady(size_t index, uint64_t iteration) {
  const EnsemblePlan::Step& step = plan_.steps()[index];
  for (const auto& input : step.inputs) {
    if (Find(input.tensor, iteration) == nullptr) return;
  }
  Ready ready{{next_id_++, index, {}}, iteration};
  std::vector<size_t> read;  // a tensor that is mapped twice is read once
  for (const auto& input : step.inputs) {
    const auto same = std::find(read.begin(), read.end(), input.tensor);
    ready.start.inputs.push_back(
        same == read.end() ? Read(input.tensor, iteration)
                           : ready.start.inputs[static_cast<size_t>(same - read.begin())]);
    read.push_back(input.tensor);
  }
  ready_.push_back(std::move(ready));
}

void EnsembleRun::RespondIfComplete(uint64_t iteration) {
  for (const size_t output : outputs_) {
    if (Find(output, iteration) == nullptr) return;
  }
  Response response;
  for (const size_t output : outputs_) response.push_back(Read(output, iteration));
  responses_.push_back(std::move(response));
  responded_ = true;
}

}  // namespace nereid::ensemble
