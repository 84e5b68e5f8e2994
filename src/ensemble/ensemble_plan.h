// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/model_config.h"

namespace nereid::ensemble {

/// No step: a tensor without a producer, or without a decoupled step before it.
inline constexpr int kNoStep = -1;

/// An ensemble as a graph: steps connected by tensors. Built once from a configuration that
/// satisfies the rules of ensembles (config/rules), then immutable. Steps and tensors are
/// identified by their indices. Steps are in the order of the configuration, which does not
/// determine the order of execution.
class EnsemblePlan {
 public:
  /// A model's input or output and the ensemble's tensor that is mapped to it.
  struct Mapping {
    std::string name;  // of the model's input or output
    size_t tensor = 0;
  };
  struct Step {
    std::string model;
    std::string space;     // the namespace of the model
    int64_t version = -1;  // -1: the model's version policy decides
    std::vector<Mapping> inputs;
    std::vector<Mapping> outputs;
    bool decoupled = false;
    /// The decoupled step for each of whose responses this step runs; kNoStep if it runs once.
    int origin = kNoStep;
  };
  struct Tensor {
    std::string name;
    int producer = kNoStep;         // kNoStep: an input of the ensemble
    std::vector<size_t> consumers;  // steps, each once
    /// The decoupled step that makes this tensor repeatedly: its producer or a step before that.
    /// kNoStep for a tensor that exists once.
    int origin = kNoStep;
  };

  /// Returns whether the model of a step is decoupled.
  using IsDecoupled = std::function<bool(const Step& step)>;

  EnsemblePlan(const config::ModelConfig& config, const IsDecoupled& is_decoupled);

  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  /// Returns the index of a tensor, or -1 if the ensemble has none with this name.
  int FindTensor(std::string_view name) const;
  /// Returns whether a request may get any number of responses.
  bool decoupled() const { return decoupled_; }
  /// Returns how many requests of one step may be in progress at a time.
  size_t max_inflight() const { return max_inflight_; }

  /// Returns, by step, whether the step is needed to make one of these tensors.
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
