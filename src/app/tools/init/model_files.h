// SPDX-License-Identifier: Apache-2.0
// What model files tell of their inputs and outputs. They may be wrong on purpose: nothing in them
// is believed beyond its bounds.
#pragma once

#include <string>
#include <string_view>

#include "app/tools/init/config_draft.h"
#include "base/result.h"

namespace nereid::app::tools {

/// The inputs and outputs of an ONNX model (the message onnx.ModelProto of onnx.proto): its
/// graph's, without inputs that have a value in the file. INVALID_ARGUMENT if the bytes are no ONNX
/// model, or if an input is no tensor that the protocol can carry; such outputs are left out with a
/// note.
base::Status ReadOnnx(std::string_view bytes, ConfigDraft* draft);

/// The inputs and outputs of a TensorFlow saved model (the message tensorflow.SavedModel of
/// saved_model.pb): those of the signature serving_default, else of the first one.
/// INVALID_ARGUMENT if the bytes are no saved model, or it has no signature.
base::Status ReadSavedModel(std::string_view bytes, ConfigDraft* draft);

}  // namespace nereid::app::tools
