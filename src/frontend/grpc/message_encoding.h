// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/byte_budget.h"
#include "base/status.h"
#include "codec/compression/compression.h"
#include "frontend/grpc/call_status.h"
#include "memory/host_buffer.h"

namespace nereid::frontend::grpc {

/// How messages of one direction of a call are compressed.
using codec::compression::Encoding;
using codec::compression::EncodingName;
using codec::compression::FindEncoding;

/// What `accept` (grpc-accept-encoding: names with commas) offers beyond identity; gzip before
/// deflate.
Encoding ChooseEncoding(std::string_view accept);

/// A message and the memory in which it lies.
struct StoredBytes {
  memory::HostBuffer storage;
  std::string_view bytes;
};

/// Decompresses; the memory is charged to `budget` if there is one. The failures: INTERNAL for
/// malformed data, RESOURCE_EXHAUSTED when the result is larger than `limit` bytes or there is no
/// room for it.
std::variant<StoredBytes, CallStatus> Decompress(std::string_view compressed, Encoding encoding,
                                                 uint64_t limit,
                                                 std::shared_ptr<base::ByteBudget> budget);

/// Why a request message finds no room.
CallStatus OverBudget();
CallStatus OutOfMemory();

/// Appends the compressed concatenation of `pieces` to `out`. `level`: zlib's, 1 to 9.
base::Status Compress(std::span<const std::string_view> pieces, Encoding encoding, int level,
                      std::string* out);

}  // namespace nereid::frontend::grpc
