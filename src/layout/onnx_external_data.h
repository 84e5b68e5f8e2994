// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/byte_source.h"

namespace nereid::layout {

/// The files beside an ONNX model that hold values of its tensors, by location (a path relative to
/// the model's folder), with the number of bytes that the model reads: those up to the end of its
/// last tensor there.
using OnnxExternalData = std::map<std::string, uint64_t>;

/// Returns the external data of the initializers of an ONNX model (TensorProto.external_data of
/// onnx.proto). Initializers of inner graphs are not looked at. Of a damaged file, returns what
/// comes before the damage; at most 1,000 locations are returned.
OnnxExternalData ReadOnnxExternalData(const base::ByteSource& model);

}  // namespace nereid::layout
