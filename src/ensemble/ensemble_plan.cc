// SPDX-License-Identifier: Apache-2.0
#include "ensemble/ensemble_plan.h"

#include <algorithm>
#include <map>

#include "model_config.pb.h"

namespace nereid::ensemble {
namespace {

/// The bound where the configuration gives none. It is far above what any member needs to be busy,
/// and keeps the queues of members bounded however many requests arrive.
constexpr size_t kDefaultMaxInflight = 4096;

/// Sorts by name: protobuf maps have no order.
std::map<std::string, std::string> Sorted(
    const google::protobuf::Map<std::string, std::string>& map) {
  return {map.begin(), map.end()};
}

}  // namespace

EnsemblePlan::EnsemblePlan(const config::ModelConfig& config, const IsDecoupled& is_decoupled) {
  for (const config::TensorSpec& input : config.inputs()) TensorIndex(input.name);
  const auto& scheduling = config.proto().ensemble_scheduling();
  max_inflight_ = scheduling.max_inflight_requests() == 0 ? kDefaultMaxInflight
                                                          : scheduling.max_inflight_requests();
  for (int i = 0; i < scheduling.step_size(); ++i) {
    const auto& from = scheduling.step(i);
    const auto index = static_cast<size_t>(i);
    Step step;
    step.model = from.model_name();
    step.space = from.model_namespace();
    step.version = from.model_version();
    step.decoupled = is_decoupled(step);
    decoupled_ = decoupled_ || step.decoupled;
    for (const auto& [name, tensor] : Sorted(from.input_map())) {
      const size_t read = TensorIndex(tensor);
      auto& consumers = tensors_[read].consumers;
      if (consumers.empty() || consumers.back() != index) consumers.push_back(index);
      step.inputs.push_back({name, read});
    }
    for (const auto& [name, tensor] : Sorted(from.output_map())) {
      const size_t written = TensorIndex(tensor);
      tensors_[written].producer = i;
      step.outputs.push_back({name, written});
    }
    steps_.push_back(std::move(step));
  }
  FindOrigins();
}

int EnsemblePlan::FindTensor(std::string_view name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const Tensor& tensor) { return tensor.name == name; });
  return found == tensors_.end() ? -1 : static_cast<int>(found - tensors_.begin());
}

size_t EnsemblePlan::TensorIndex(const std::string& name) {
  const int found = FindTensor(name);
  if (found >= 0) return static_cast<size_t>(found);
  tensors_.push_back({name, kNoStep, {}, kNoStep});
  return tensors_.size() - 1;
}

void EnsemblePlan::FindOrigins() {
  // The rules guarantee that a step has one origin at most. Origins spread along the graph by one
  // step in each round, so as many rounds as steps are enough, in whatever order the steps are.
  for (size_t round = 0; round < steps_.size(); ++round) {
    for (size_t i = 0; i < steps_.size(); ++i) {
      Step& step = steps_[i];
      for (const Mapping& input : step.inputs) {
        if (tensors_[input.tensor].origin != kNoStep) step.origin = tensors_[input.tensor].origin;
      }
      for (const Mapping& output : step.outputs) {
        tensors_[output.tensor].origin = step.decoupled ? static_cast<int>(i) : step.origin;
      }
    }
  }
}

std::vector<bool> EnsemblePlan::StepsFor(const std::vector<size_t>& tensors) const {
  std::vector<bool> needed(steps_.size(), false);
  std::vector<size_t> open = tensors;
  while (!open.empty()) {
    const int producer = tensors_[open.back()].producer;
    open.pop_back();
    if (producer == kNoStep || needed[static_cast<size_t>(producer)]) continue;
    needed[static_cast<size_t>(producer)] = true;
    for (const Mapping& input : steps_[static_cast<size_t>(producer)].inputs) {
      open.push_back(input.tensor);
    }
  }
  return needed;
}

}  // namespace nereid::ensemble
