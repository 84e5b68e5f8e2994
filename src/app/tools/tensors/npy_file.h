// SPDX-License-Identifier: Apache-2.0
// NumPy's file format .npy, versions 1 to 3: the magic "\x93NUMPY", two bytes of the version, the
// length of the header (two bytes in version 1, else four), and the header, which is the text of a
// Python dictionary with 'descr', 'fortran_order' and 'shape'. The elements follow.
#pragma once

#include <string>
#include <string_view>

#include "app/tools/tensors/tensor.h"
#include "base/result.h"

namespace nereid::app::tools {

/// Reads a file's content. Strings ('S' and 'U') become BYTES. The name stays empty.
/// INVALID_ARGUMENT for another format, objects, big-endian numbers and Fortran order.
base::Result<Tensor> ParseNpy(std::string_view content);

/// Returns the content of a file with the tensor. BYTES become strings 'S' of the length of the
/// longest; BF16 becomes FP32, because NumPy has no such type. INVALID_ARGUMENT for strings that
/// end with a zero byte, which 'S' drops, or that would need more than 1 GiB. The tensor must be
/// consistent.
base::Result<std::string> NpyContent(const Tensor& tensor);

/// Returns the tensor with elements of another type. INVALID_ARGUMENT for an element that the type
/// cannot hold, and between BYTES and numbers.
base::Result<Tensor> ConvertTensor(Tensor tensor, tensor::DataType type);

}  // namespace nereid::app::tools
