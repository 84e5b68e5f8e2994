// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/model_config.h"

namespace nereid::ensemble {

/// No step: where a tensor has no producer, or nothing in front of it is decoupled.
inline constexpr int kNoStep = -1;

/// An ensemble as a graph: steps are joined by tensors. Made once from a configuration that keeps
/// the rules of ensembles (config/rules), then immutable. Steps and tensors are known by their
/// indices; steps are in the order of the configuration, which means nothing.
class EnsemblePlan {
 public:
  /// What a model calls a tensor of the ensemble.
  struct Mapping {
    std::string name;  // of the model's input or output
    size_t tensor = 0;
  };
  struct Step {
    std::string model;
    std::string space;     // the namespace that the model is in
    int64_t version = -1;  // -1: the model's version policy decides
    std::vector<Mapping> inputs;
    std::vector<Mapping> outputs;
    bool decoupled = false;
    /// The decoupled step whose responses this step runs for, one after the other; kNoStep if it
    /// runs once.
    int origin = kNoStep;
  };
  struct Tensor {
    std::string name;
    int producer = kNoStep;         // kNoStep: an input of the ensemble
    std::vector<size_t> consumers;  // steps, each once
    /// The decoupled step that makes this tensor again and again: its producer, or the one in front
    /// of it. kNoStep for a tensor that exists once.
    int origin = kNoStep;
  };

  /// Whether the model of a step is decoupled.
  using IsDecoupled = std::function<bool(const Step& step)>;

  EnsemblePlan(const config::ModelConfig& config, const IsDecoupled& is_decoupled);

  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  /// -1 for a name that the ensemble has no tensor of.
  int FindTensor(std::string_view name) const;
  /// Whether a request may get any number of responses.
  bool decoupled() const { return decoupled_; }
  /// How many requests of one step may be under way at a time; 0 = any number.
  size_t max_inflight() const { return max_inflight_; }

  /// The steps, by index, without which these tensors cannot be made.
  std::vector<bool> StepsFor(const std::vector<size_t>& tensors) const;

 private:
  size_t TensorIndex(const std::string& name);
  void FindOrigins();

  std::vector<Step> steps_;
  std::vector<Tensor> tensors_;
  bool decoupled_ = false;
  size_t max_inflight_ = 0;
};

}  // namespace nereid::ensemble
