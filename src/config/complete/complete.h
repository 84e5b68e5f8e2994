// SPDX-License-Identifier: Apache-2.0
// Completes a configuration as Triton does when it reads a model's directory. The rules are those
// of Triton's model_configuration.md (sections "Name, Platform and Backend", "Auto-Generated Model
// Configuration" and "Version Policy") and of Triton 2.51, with which
// tests/peer/test_config_derivation.py compares the results.
#pragma once

#include "base/result.h"
#include "config/complete/model_files.h"
#include "config/model_config.h"

namespace nereid::config {

/// Derives the parts that a configuration leaves out. The name comes from the directory. Platform,
/// backend and default file name come from each other or from the files of the first version. Then
/// the defaults of NormalizeModelConfig are filled in. This runs whether or not the backend may
/// complete configurations. INVALID_ARG if no backend can be determined.
base::Result<ModelConfigPtr> CompleteModelConfig(const ModelConfig& config,
                                                 const ModelFiles& files);

/// Fills in the defaults that depend on neither files nor backends: version policy, preferred batch
/// sizes, idle time of sequences, pinned memory.
ModelConfigPtr NormalizeModelConfig(const ModelConfig& config);

}  // namespace nereid::config
