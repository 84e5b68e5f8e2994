// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/model_config.h"

namespace nereid::config {

/// Whether two configurations differ in nothing but instance_group and version_policy: what can
/// change while a model serves.
bool SameButForInstances(const ModelConfig& a, const ModelConfig& b);

/// `config` with the instance_group and version_policy of `other`.
ModelConfigPtr WithInstancesOf(const ModelConfig& config, const ModelConfig& other);

}  // namespace nereid::config
