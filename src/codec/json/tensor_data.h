// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "codec/json/cursor.h"
#include "memory/host_buffer.h"
#include "tensor/data_type.h"

namespace nereid::codec::json {

/// Reads the array at the cursor, flat or nested in any way, as the `count` elements of a tensor
/// in its wire form (little-endian, packed; BYTES with their lengths). Memory is taken only for as
/// many elements as the text can hold. `type` is neither FP16, BF16 nor kInvalid. `used` gets the
/// bytes of the buffer that are filled.
base::Result<memory::HostBuffer> ReadTensorData(Cursor& cursor, tensor::DataType type,
                                                uint64_t count, size_t* used);

}  // namespace nereid::codec::json
