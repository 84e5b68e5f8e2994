// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framework/signature.h"
#include "nereid/backend/json.h"
#include "nereid/backend/model_config.h"

namespace nereid::framework {

/// Whether requests can be put together along a first dimension that every tensor leaves variable.
bool CanBatch(const ModelSignature& signature);

/// What is completed. Triton's backends differ in it.
enum class Completion {
  /// Lists that are empty.
  kLists,
  /// Also entries without a data type or dims, and inputs that the list lacks; whether the model
  /// batches is read from the entries, too. For signatures that name every input and output.
  kEntries,
};

/// Adds what a configuration lacks of inputs, outputs, max_batch_size and a scheduler, from the
/// model's signature. kLists does nothing where both inputs (or batch inputs) and outputs are
/// given. The setting default-max-batch-size (4) is written where the model can batch and the
/// configuration says 0. Inputs that are made for the model (controls, states, batch inputs) are
/// left out, and so are outputs that are states or that the protocol cannot carry. `*changed` says
/// whether the configuration is to be handed back to the server.
Error CompleteConfig(const ModelSignature& signature, const backend::Parameters& backend_settings,
                     Completion completion, rapidjson::Document* document, bool* changed);

/// Does that for a model whose server asks for it, hands the result to the server, and reads it
/// into `config`.
Error CompleteModel(TRITONBACKEND_Model* model, const ModelSignature& signature,
                    const backend::Parameters& backend_settings, Completion completion,
                    backend::ModelConfig* config);

}  // namespace nereid::framework
