// SPDX-License-Identifier: Apache-2.0
// Source: section "Modifying the Model Repository" of Triton's model_management.md.
#pragma once

#include "config/model_config.h"

namespace nereid::config {

/// Returns whether two configurations differ only in instance_group and version_policy. These
/// fields can change while a model stays loaded.
bool SameButForInstances(const ModelConfig& a, const ModelConfig& b);

/// Returns `config` with the instance_group and version_policy of `other`.
ModelConfigPtr WithInstancesOf(const ModelConfig& config, const ModelConfig& other);

}  // namespace nereid::config
