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

/// The compression of a body or a message. kDeflate is the zlib format (RFC 1950), as in HTTP;
/// kGzip is RFC 1952.
enum class Encoding : uint8_t { kIdentity, kDeflate, kGzip };

/// Returns "identity", "deflate" or "gzip", the names in HTTP and gRPC.
std::string_view EncodingName(Encoding encoding);

/// Returns the encoding with exactly this name.
std::optional<Encoding> FindEncoding(std::string_view name);

/// The result of Inflate. Each protocol has its own texts for a failure.
struct Inflated {
  enum class Outcome {
    kDone,
    kTooLarge,    // more than the limit; inflating stopped there
    kIncomplete,  // the data ends too early
    kDamaged,     // not in that format, or altered, or other bytes follow it
    kNoMemory,
    kOverBudget,  // the rest of the budget is in use
  };

  Outcome outcome = Outcome::kNoMemory;
  memory::HostBuffer buffer;  // the result begins at `offset`
  size_t size = 0;            // bytes of the result
};

/// Inflates all of `packed` into a buffer, from its byte `offset` on. Gzip data may have several
/// members, whose contents follow each other (RFC 1952, section 2.2). The result has at most
/// `limit` bytes, and the memory used is at most about twice the result; all of it is charged to
/// `budget`, if there is one. `encoding` must not be kIdentity; without a value both formats are
/// accepted. `packed` comes from outside and may hold anything.
Inflated Inflate(std::string_view packed, std::optional<Encoding> encoding, size_t offset,
                 uint64_t limit, std::shared_ptr<base::ByteBudget> budget = nullptr);

/// Returns the largest size that `packed` compressed bytes from outside may have when inflated: 64
/// MiB or 64 times `packed`, whichever is more, but at most `limit`. Without it a few kilobytes
/// could become gigabytes.
uint64_t InflationLimit(size_t packed, uint64_t limit);

/// zlib's own compromise between speed and size.
inline constexpr int kDefaultLevel = -1;

/// Takes the next compressed bytes, which are valid during the call. Returns false when memory is
/// short.
using PackedSink = std::function<bool(std::string_view)>;

/// Deflates the concatenation of `pieces` and passes the result to `sink` in blocks. `encoding`
/// must not be kIdentity. `level` is zlib's, 1 to 9 or kDefaultLevel. Returns UNAVAILABLE when
/// memory is short.
base::Status Deflate(std::span<const tensor::ByteSpan> pieces, Encoding encoding, int level,
                     const PackedSink& sink);

}  // namespace nereid::codec::compression
