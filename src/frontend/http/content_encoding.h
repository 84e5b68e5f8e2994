// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/byte_budget.h"
#include "base/result.h"
#include "codec/compression/compression.h"
#include "codec/json/text_buffer.h"
#include "frontend/http/exchange.h"
#include "tensor/bytes.h"

namespace nereid::frontend::http {

using codec::compression::Encoding;
using codec::compression::EncodingName;

/// Returns the encoding that a Content-Encoding field names, in any case. Returns UNSUPPORTED
/// (Triton's text) for any other name.
base::Result<Encoding> EncodingFromName(std::string_view name);

/// Returns the known encoding to which an Accept-Encoding field gives the greatest weight; the
/// first one of several, and kIdentity if there is none.
Encoding BestEncoding(std::string_view accepted);

/// Inflates `packed`, which may be in gzip or zlib format, into a body that begins at `offset` of
/// its buffer. The body has at most `max_size` bytes, and at most InflationLimit(). It is charged
/// to `budget`, if there is one. Returns INVALID_ARG for data that is damaged or inflates to more,
/// and UNAVAILABLE if there is no memory.
base::Result<Body> Decompress(std::string_view packed, size_t offset, uint64_t max_size,
                              std::shared_ptr<base::ByteBudget> budget = nullptr);

/// Replaces the body of a request by the inflated one if it is compressed. If the server does not
/// know the encoding, returns UNSUPPORTED, and the reply names the known ones.
base::Status DecompressBody(Exchange& exchange, uint64_t max_size,
                            std::shared_ptr<base::ByteBudget> budget);

/// Compresses the concatenation of `pieces` and appends it to `out`.
base::Status Compress(std::span<const tensor::ByteSpan> pieces, Encoding encoding,
                      codec::json::TextBuffer* out);

}  // namespace nereid::frontend::http
