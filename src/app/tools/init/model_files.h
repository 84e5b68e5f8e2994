// SPDX-License-Identifier: Apache-2.0
// Readers of the inputs and outputs of model files. The files are not trusted: every length is
// checked against the end of its message.
#pragma once

#include <string>
#include <string_view>

#include "app/tools/init/config_draft.h"
#include "base/byte_source.h"
#include "base/result.h"

namespace nereid::app::tools {

/// Adds the inputs and outputs of an ONNX model (the message onnx.ModelProto of onnx.proto) to
/// `draft`. They are those of its graph, without the inputs that have a value in the file. Returns
/// INVALID_ARGUMENT if the bytes are not an ONNX model, or if the protocol cannot carry an input.
/// An output that the protocol cannot carry becomes a note.
base::Status ReadOnnx(std::string_view bytes, ConfigDraft* draft);

/// Adds the inputs and outputs of a TensorFlow saved model (the message tensorflow.SavedModel of
/// saved_model.pb) to `draft`. They are those of the signature serving_default, or of the first one
/// by name. Returns INVALID_ARGUMENT if the bytes are not a saved model, or if no signature has
/// outputs.
base::Status ReadSavedModel(std::string_view bytes, ConfigDraft* draft);

/// Adds the arguments and results of forward of a TorchScript file to `draft`, under the names by
/// which the backend pytorch finds them. Data types and dims of tensors are not in the file.
/// Returns INVALID_ARGUMENT if the file is not TorchScript, or if an argument has a type that no
/// request can carry.
base::Status ReadTorchScriptFile(const base::ByteSource& file, ConfigDraft* draft);

/// Adds the inputs and outputs of a model of OpenVINO (the XML of an IR) to `draft`, by the names
/// that the backend openvino gives them. Returns INVALID_ARGUMENT if the text is no IR, or if the
/// protocol does not have the type of a tensor.
base::Status ReadOpenVino(std::string_view bytes, ConfigDraft* draft);

}  // namespace nereid::app::tools
