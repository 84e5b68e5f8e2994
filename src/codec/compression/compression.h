// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/status.h"
#include "memory/receive_buffer.h"
#include "tensor/bytes.h"

namespace nereid::codec::compression {

/// How a body or a message is compressed; kDeflate is zlib's format (RFC 1950), as in HTTP.
enum class Encoding : uint8_t { kIdentity, kDeflate, kGzip };

/// "identity", "deflate", "gzip": the names that HTTP and gRPC use.
std::string_view EncodingName(Encoding encoding);

/// The encoding of exactly that name.
std::optional<Encoding> FindEncoding(std::string_view name);

/// What became of data to be inflated. Each protocol has words of its own for a failure.
struct Inflated {
  enum class Outcome {
    kDone,
    kTooLarge,    // more than the limit; inflating stopped there
    kIncomplete,  // the data ends too early
    kDamaged,     // not of that encoding, or altered
    kNoMemory,
    kOverBudget,  // others hold the budget's bytes
  };

  Outcome outcome = Outcome::kNoMemory;
  memory::HostBuffer buffer;  // the result begins at the offset that was asked for
  size_t size = 0;            // bytes of the result
  size_t unread = 0;          // bytes of the data behind the end of the compressed stream
};

/// Inflates `packed` into a buffer, from its byte `offset` on: at most `limit` bytes, and never
/// more memory than about twice what comes out, all of it charged to `budget` if there is one.
/// `encoding` is not kIdentity; without one both are taken. Data is from outside and may be
/// anything.
Inflated Inflate(std::string_view packed, std::optional<Encoding> encoding, size_t offset,
                 uint64_t limit, std::shared_ptr<base::ByteBudget> budget = nullptr);

/// The most that `packed` bytes from outside may become: 64 MiB, 64 times their size where that is
/// more, and never more than `limit`. A few kilobytes can be packed that become gigabytes.
uint64_t InflationLimit(size_t packed, uint64_t limit);

/// zlib's own compromise between speed and size.
inline constexpr int kDefaultLevel = -1;

/// Takes the next compressed bytes, valid during the call; false when there is no memory for them.
using PackedSink = std::function<bool(std::string_view)>;

/// Deflates the concatenation of `pieces` into `sink`. `encoding` is not kIdentity; `level`:
/// zlib's, 1 to 9, or kDefaultLevel. UNAVAILABLE without memory.
base::Status Deflate(std::span<const tensor::ByteSpan> pieces, Encoding encoding, int level,
                     const PackedSink& sink);

}  // namespace nereid::codec::compression
