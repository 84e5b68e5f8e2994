// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openvino/core/type/element_type.hpp>

#include "triton/core/tritonserver.h"

namespace nereid::openvino {

/// Returns INVALID for a type that the inference protocol lacks.
TRITONSERVER_DataType DataTypeOf(const ov::element::Type& type);
/// Returns `ov::element::dynamic` (undefined) for TRITONSERVER_TYPE_INVALID.
ov::element::Type ElementTypeOf(TRITONSERVER_DataType type);

}  // namespace nereid::openvino
