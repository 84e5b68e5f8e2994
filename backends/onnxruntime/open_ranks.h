// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/byte_source.h"
#include "framework/signature.h"

namespace nereid::onnxruntime {

/// Marks the tensors of `signature` whose rank is open: those for which the ONNX model declares no
/// shape. ONNX Runtime describes them like scalars, so this reads the model itself. A model of
/// another format, or a damaged one, marks nothing.
void MarkOpenRanks(const base::ByteSource& model, framework::ModelSignature* signature);

/// Does this for a model file. Reads it only if there are tensors without dimensions.
void MarkOpenRanks(const std::string& path, framework::ModelSignature* signature);

}  // namespace nereid::onnxruntime
