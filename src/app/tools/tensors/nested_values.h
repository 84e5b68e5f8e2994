// SPDX-License-Identifier: Apache-2.0
// Tensors as JSON values: numbers, true and false, or strings, in lists of any depth.
#pragma once

#include <string_view>

#include "app/tools/tensors/tensor.h"
#include "base/json_writer.h"
#include "base/result.h"

namespace nereid::app::tools {

/// Reads one value with all its lists as a tensor of `type`; the lists give its shape, a value
/// without a list the shape []. INVALID_ARGUMENT for lists of different lengths or depths, for
/// values that the type cannot hold, and for text that is not JSON. The name stays empty.
base::Result<Tensor> ReadNestedValues(std::string_view json, tensor::DataType type);

/// Writes the elements as a flat list. Bytes of strings that are not UTF-8 become U+FFFD; numbers
/// that JSON does not have are strings: "NaN", "Infinity", "-Infinity". The tensor must be
/// consistent.
void WriteFlatValues(const Tensor& tensor, base::JsonWriter* json);

/// Returns INTERNAL if the bytes of a tensor are not what its type and shape say.
base::Status CheckTensor(const Tensor& tensor);

/// Calls `visit(text)` for each element of a BYTES tensor that CheckTensor has accepted.
template <typename Visit>
void ForEachText(const Tensor& tensor, Visit&& visit) {
  for (size_t at = 0; at + 4 <= tensor.bytes.size();) {
    uint32_t size = 0;
    for (int byte = 3; byte >= 0; --byte) {
      size = size << 8 | static_cast<unsigned char>(tensor.bytes[at + static_cast<size_t>(byte)]);
    }
    visit(std::string_view(tensor.bytes).substr(at + 4, size));
    at += size_t{4} + size;
  }
}

}  // namespace nereid::app::tools
