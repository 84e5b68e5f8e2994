// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

#include "triton/core/tritonserver.h"

namespace nereid::pytorch {

/// Nothing for a type that PyTorch's tensors do not have here; BYTES are lists of texts instead.
std::optional<c10::ScalarType> ScalarTypeOf(TRITONSERVER_DataType type);
/// INVALID for a type that the inference protocol lacks.
TRITONSERVER_DataType DataTypeOf(c10::ScalarType type);

}  // namespace nereid::pytorch
