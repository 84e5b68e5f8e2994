// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framework/signature.h"
#include "nereid/backend/json.h"
#include "nereid/backend/model_config.h"

namespace nereid::framework {

/// Whether the first dimension of all tensors is variable: it can be the batch.
bool CanBatch(const ModelSignature& signature);

/// Adds what a configuration lacks of inputs, outputs, max_batch_size and a scheduler, from the
/// model's signature. Does nothing where both inputs and outputs are given. The setting
/// default-max-batch-size (4) is written where the model can batch and the configuration says 0.
/// Inputs that the server makes (controls, states) and outputs that are only states are left out.
Error CompleteConfig(const ModelSignature& signature, const backend::Parameters& backend_settings,
                     rapidjson::Document* document, bool* changed);

/// Does that for a model whose server asks for it, hands the result to the server, and reads it
/// into `config`.
Error CompleteModel(TRITONBACKEND_Model* model, const ModelSignature& signature,
                    const backend::Parameters& backend_settings, backend::ModelConfig* config);

}  // namespace nereid::framework
