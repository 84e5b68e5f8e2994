// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framework/signature.h"
#include "nereid/backend/json.h"
#include "nereid/backend/model_config.h"

namespace nereid::framework {

/// Returns whether requests can be batched: every tensor has a variable first dimension.
bool CanBatch(const ModelSignature& signature);

/// How much is completed. Triton's backends differ in this.
enum class Completion {
  /// Complete empty lists only.
  kLists,
  /// Also complete entries without data type or dims, add missing inputs, and derive from the
  /// entries whether the model batches. For signatures that name every input and output.
  kEntries,
};

/// Completes inputs, outputs, max_batch_size and scheduler of a configuration from the model's
/// signature. kLists does nothing if both inputs (or batch inputs) and outputs are given. If the
/// model can batch and max_batch_size is 0, the setting default-max-batch-size (4) is used. Inputs
/// that clients do not send (controls, states, batch inputs) are not listed, nor are outputs that
/// are states or have a type that the protocol lacks. Sets `*changed` if the configuration must be
/// returned to the server.
Error CompleteConfig(const ModelSignature& signature, const backend::Parameters& backend_settings,
                     Completion completion, rapidjson::Document* document, bool* changed);

/// Does this if the server asks for it, sends the result to the server, and reads it into `config`.
Error CompleteModel(TRITONBACKEND_Model* model, const ModelSignature& signature,
                    const backend::Parameters& backend_settings, Completion completion,
                    backend::ModelConfig* config);

}  // namespace nereid::framework
