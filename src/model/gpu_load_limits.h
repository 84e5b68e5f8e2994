// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>

#include "base/status.h"
#include "model/instance_plan.h"

namespace nereid::model {

/// How much of a GPU's memory may be in use when a model is loaded (--model-load-gpu-limit). What
/// counts is the memory that all processes use.
class GpuLoadLimits {
 public:
  GpuLoadLimits() = default;
  /// `fractions` are from 0 to 1, by the number of the GPU.
  explicit GpuLoadLimits(std::map<int, double> fractions) : fractions_(std::move(fractions)) {}

  /// Returns UNAVAILABLE, in Triton's words, if the instance is on a GPU with a limit that is
  /// exceeded, or the driver's error if the memory cannot be read. Asks the driver only for a GPU
  /// with a limit.
  base::Status Check(const InstanceSpec& spec) const;

 private:
  std::map<int, double> fractions_;
};

}  // namespace nereid::model
