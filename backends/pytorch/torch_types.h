// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

#include "triton/core/tritonserver.h"

namespace nereid::pytorch {

/// Returns nothing for a type that PyTorch tensors lack. BYTES is a list of strings in TorchScript.
std::optional<c10::ScalarType> ScalarTypeOf(TRITONSERVER_DataType type);
/// Returns INVALID for a type that the inference protocol lacks.
TRITONSERVER_DataType DataTypeOf(c10::ScalarType type);

}  // namespace nereid::pytorch
