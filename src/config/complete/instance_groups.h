// SPDX-License-Identifier: Apache-2.0
// Completes instance groups as Triton does when it loads a version: section "Instance Groups" of
// Triton's model_configuration.md, and TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup of
// tritonbackend.h for the groups that a backend prefers.
#pragma once

#include <cstdint>
#include <vector>

#include "config/model_config.h"

namespace nereid::config {

/// The inputs of the defaults of instance groups.
struct InstanceDefaults {
  struct PreferredGroup {
    InstanceKind kind = InstanceKind::kAuto;
    /// 0 means no preference.
    int32_t count = 0;
    std::vector<int32_t> gpus;
  };
  /// The ids of the usable GPUs.
  std::vector<int32_t> gpus;
  /// The groups that the backend prefers, best first. A group with GPUs that do not exist is
  /// skipped. Groups of kind AUTO stay on the CPU if all that the backend prefers are elsewhere
  /// than on GPUs.
  std::vector<PreferredGroup> preferred;
};

/// Gives every group a name, a kind other than AUTO, a count and, for kind GPU, its devices. Adds
/// one group to a configuration that has none. Ensembles stay without groups.
ModelConfigPtr CompleteInstanceGroups(const ModelConfig& config, const InstanceDefaults& defaults);

}  // namespace nereid::config
