// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openvino/core/type/element_type.hpp>

#include "triton/core/tritonserver.h"

namespace nereid::openvino {

/// INVALID for a type that the inference protocol lacks.
TRITONSERVER_DataType DataTypeOf(const ov::element::Type& type);
/// Undefined (`ov::element::dynamic`) for TRITONSERVER_TYPE_INVALID.
ov::element::Type ElementTypeOf(TRITONSERVER_DataType type);

}  // namespace nereid::openvino
