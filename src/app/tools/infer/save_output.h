// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/tools/tensors/tensor.h"
#include "base/status.h"

namespace nereid::app::tools {

/// Writes a tensor to a file in the form that the ending of `path` names: ".npy"; ".json", the flat
/// list; any other, the bytes as they are, where a BYTES tensor of one element is that element.
/// The tensor must be consistent. INVALID_ARGUMENT if the form cannot hold it, UNAVAILABLE if the
/// file cannot be written.
base::Status SaveTensor(const Tensor& tensor, const std::string& path);

/// Returns the path of the `index`-th response, from 0 on: "out.npy", "out-2.npy", "out-3.npy".
std::string NumberedPath(const std::string& path, uint64_t index);

}  // namespace nereid::app::tools
