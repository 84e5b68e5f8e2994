// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "codec/json/cursor.h"
#include "memory/host_buffer.h"
#include "tensor/data_type.h"

namespace nereid::codec::json {

/// Reads the array at the cursor, flat or nested in any way, as the `count` elements of the input
/// `name`, and returns them in the binary form (little-endian, packed; BYTES with their lengths).
/// Returns INVALID_ARGUMENT for a number that `type` cannot hold. Allocates memory only for as many
/// elements as the text can hold. `type` must not be FP16, BF16 or kInvalid. `used` is set to the
/// number of bytes of the buffer that are filled.
base::Result<memory::HostBuffer> ReadTensorData(Cursor& cursor, std::string_view name,
                                                tensor::DataType type, uint64_t count,
                                                size_t* used);

}  // namespace nereid::codec::json
