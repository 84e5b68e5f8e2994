// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidjson/document.h>

#include "nereid/backend/model_config.h"
#include "onnxruntime/signature.h"

namespace nereid::onnxruntime {

using backend::ModelConfig;
using backend::Parameters;

/// Whether requests can be put together along a first dimension that every tensor leaves variable.
bool CanBatch(const ModelSignature& signature);

/// Fills in what `config` leaves open and the model knows: max_batch_size, the scheduler, inputs
/// and outputs. Does nothing where inputs and outputs are both given. `*changed` says whether the
/// configuration is to be handed back to the server.
Error AutoComplete(const ModelSignature& signature, const Parameters& backend_settings,
                   rapidjson::Document* config, bool* changed);

}  // namespace nereid::onnxruntime
