// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <openvino/runtime/core.hpp>
#include <string>

#include "framework/signature.h"
#include "nereid/backend/model_config.h"
#include "openvino/settings.h"

namespace nereid::openvino {

/// Checks the file (check_file.h), opens it, and sets the shapes of the model's inputs according to
/// the settings and the batching. Errors contain the path.
Error ReadModel(ov::Core* core, const backend::ModelConfig& config, const Settings& settings,
                const std::string& path, std::shared_ptr<ov::Model>* model);

/// Sets the first dimension of each input for batching: variable, or `max_batch_size` if the
/// settings ask for that. Models are often exported with a batch of 1. ReadModel does this for a
/// configuration that batches.
Error SetBatch(const backend::ModelConfig& config, const Settings& settings, ov::Model* model);

/// Replaces a batch dimension fixed to `batch` by a variable one, as clients see it.
void HideFixedBatch(int64_t batch, framework::ModelSignature* signature);

}  // namespace nereid::openvino
