// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "framework/signature.h"
#include "nereid/backend/model_config.h"
#include "tensorrt/engine.h"

namespace nereid::tensorrt {

/// Returns the engine's tensors as the configuration describes them, with the largest batch that
/// one of `profiles` accepts.
Error MakeSignature(const Engine& engine, const std::vector<int>& profiles,
                    const backend::ModelConfig& config, framework::ModelSignature* signature);

/// Checks that the configuration marks the same tensors as shape tensors, and as tensors of a
/// format that is not linear, as the engine does. INVALID_ARG with the field to change.
Error CheckMarks(const backend::ModelConfig& config, const Engine& engine);

/// Sets `size` to the largest batch size that one of `profiles` accepts: the maximum of the first
/// dimension of the inputs that `config` batches. Nothing if there are no such inputs.
Error FindMaxBatchSize(const Engine& engine, const std::vector<int>& profiles,
                       const backend::ModelConfig& config, std::optional<int64_t>* size);

}  // namespace nereid::tensorrt
