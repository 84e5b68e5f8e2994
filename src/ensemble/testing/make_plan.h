// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "config/parse/parse.h"
#include "ensemble/ensemble_plan.h"

namespace nereid::ensemble {

/// A step of a plan for tests: the model's inputs and outputs are named like the tensors. Models
/// whose names begin with 'D' are decoupled.
struct PlannedStep {
  std::string model;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

/// The configuration of an ensemble of these steps; tensors that nobody writes are its inputs,
/// those that nobody reads, and those of `also`, its outputs.
inline std::string EnsembleText(const std::vector<PlannedStep>& steps, unsigned max_inflight = 0,
                                const std::set<std::string>& also = {}) {
  std::set<std::string> read, written;
  std::string scheduling;
  for (const PlannedStep& step : steps) {
    scheduling += " step { model_name: \"" + step.model + "\" model_version: -1";
    for (const std::string& name : step.inputs) {
      read.insert(name);
      scheduling += " input_map { key: \"" + name + "\" value: \"" + name + "\" }";
    }
    for (const std::string& name : step.outputs) {
      written.insert(name);
      scheduling += " output_map { key: \"" + name + "\" value: \"" + name + "\" }";
    }
    scheduling += " }";
  }
  std::string text = "name: \"e\" platform: \"ensemble\" ";
  const auto add = [&text](const char* kind, const std::string& name) {
    text += std::string(kind) + " { name: \"" + name + "\" data_type: TYPE_INT32 dims: [ 1 ] } ";
  };
  for (const std::string& name : read) {
    if (!written.contains(name)) add("input", name);
  }
  for (const std::string& name : written) {
    if (!read.contains(name) || also.contains(name)) add("output", name);
  }
  return text + "ensemble_scheduling {" + scheduling +
         " max_inflight_requests: " + std::to_string(max_inflight) + " }";
}

inline EnsemblePlan MakePlan(const std::vector<PlannedStep>& steps, unsigned max_inflight = 0) {
  const auto config = config::ParseModelConfigText(EnsembleText(steps, max_inflight), "test");
  return EnsemblePlan(*config.value(),
                      [](const EnsemblePlan::Step& step) { return step.model.starts_with('D'); });
}

}  // namespace nereid::ensemble
