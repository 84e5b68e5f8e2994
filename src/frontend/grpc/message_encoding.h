// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/compression/compression.h"
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

/// Decompresses. INVALID_ARGUMENT for malformed data, UNAVAILABLE when the result is larger than
/// `limit` bytes or memory runs out.
base::Result<StoredBytes> Decompress(std::string_view compressed, Encoding encoding, size_t limit);

/// Appends the compressed concatenation of `pieces` to `out`. `level`: zlib's, 1 to 9.
base::Status Compress(std::span<const std::string_view> pieces, Encoding encoding, int level,
                      std::string* out);

}  // namespace nereid::frontend::grpc
