// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "config/model_config.h"

namespace nereid::config {

/// Takes over the parts that a backend may change by TRITONBACKEND_ModelSetConfig
/// (tritonbackend.h): max_batch_size, the lists of inputs and outputs, the scheduler if none was
/// chosen, and the decoupled flag. `backend_json` is the complete configuration as the backend
/// returned it; its other parts are ignored. The result is normalized but not validated.
/// INVALID_ARG if the JSON cannot be parsed, INTERNAL if the backend changes a scheduler that was
/// chosen.
base::Result<ModelConfigPtr> MergeBackendConfig(const ModelConfig& config,
                                                std::string_view backend_json);

}  // namespace nereid::config
