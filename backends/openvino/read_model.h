// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <openvino/runtime/core.hpp>
#include <string>

#include "framework/signature.h"
#include "nereid/backend/model_config.h"
#include "openvino/settings.h"

namespace nereid::openvino {

/// Opens the file after the checks of check_file.h, and gives the model's inputs the shapes that
/// the settings and the batching ask for. The errors name the file.
Error ReadModel(ov::Core* core, const backend::ModelConfig& config, const Settings& settings,
                const std::string& path, std::shared_ptr<ov::Model>* model);

/// Makes the first dimension of each input what the batching needs: variable, or `max_batch_size`
/// where the settings want it. Models are often exported with a batch of 1. ReadModel does it for a
/// configuration that batches.
Error SetBatch(const backend::ModelConfig& config, const Settings& settings, ov::Model* model);

/// What clients see of a model whose batch is fixed to `batch` rows: a batch of variable size.
void HideFixedBatch(int64_t batch, framework::ModelSignature* signature);

}  // namespace nereid::openvino
