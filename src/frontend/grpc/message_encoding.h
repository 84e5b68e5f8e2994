// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/byte_budget.h"
#include "base/status.h"
#include "codec/compression/compression.h"
#include "frontend/grpc/call_status.h"
#include "memory/host_buffer.h"

namespace nereid::frontend::grpc {

/// The compression of the messages of one direction of a call.
using codec::compression::Encoding;
using codec::compression::EncodingName;
using codec::compression::FindEncoding;

/// Returns the best encoding that `accept` lists. `accept` is the header grpc-accept-encoding:
/// names separated by commas. gzip is better than deflate.
Encoding ChooseEncoding(std::string_view accept);

/// A message and the memory in which it lies.
struct StoredBytes {
  memory::HostBuffer storage;
  std::string_view bytes;
  bool was_compressed = false;  // on the wire
  /// The raw_input_contents that are not in `bytes`, and come before those that are. They are in
  /// memory of a backend, to which another process may write.
  std::vector<std::string_view> tensors = {};
  memory::HostBuffer tensor_storage = {};
  size_t wire_size = 0;  // of the message, uncompressed
};

/// Decompresses a message. Its memory is charged to `budget` unless that is null. Returns INTERNAL
/// for malformed data, and RESOURCE_EXHAUSTED if the result exceeds `limit` bytes or there is no
/// memory for it.
std::variant<StoredBytes, CallStatus> Decompress(std::string_view compressed, Encoding encoding,
                                                 uint64_t limit,
                                                 std::shared_ptr<base::ByteBudget> budget);

/// Return RESOURCE_EXHAUSTED for a request message for which the budget has no room, or the process
/// no memory.
CallStatus OverBudget();
CallStatus OutOfMemory();

/// Appends the compressed concatenation of `pieces` to `out`. `level` is zlib's, 1 to 9.
base::Status Compress(std::span<const std::string_view> pieces, Encoding encoding, int level,
                      std::string* out);

}  // namespace nereid::frontend::grpc
