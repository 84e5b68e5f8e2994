// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "triton/core/tritonserver.h"

namespace nereid::tensorrt {

/// Returns the values of a shape tensor, which is of type INT32, or INT64 since TensorRT 9.
std::vector<int64_t> ReadNumbers(TRITONSERVER_DataType type, std::string_view bytes);

/// Replaces `bytes` by these values. Values that do not fit into INT32 are cut off.
void WriteNumbers(TRITONSERVER_DataType type, std::span<const int64_t> numbers, std::string* bytes);

}  // namespace nereid::tensorrt
