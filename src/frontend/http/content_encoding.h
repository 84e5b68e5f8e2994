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

/// The encoding that a Content-Encoding field names, in any case; UNSUPPORTED for one that we do
/// not know.
base::Result<Encoding> EncodingFromName(std::string_view name);

/// Of an Accept-Encoding field: the known encoding with the greatest weight, the first of several;
/// kIdentity if there is none.
Encoding BestEncoding(std::string_view accepted);

/// Unpacks `packed` (gzip or zlib, whichever it is) into a body of at most `max_size` bytes, and of
/// no more than InflationLimit() gives its size; it begins at `offset` of its buffer, and is
/// charged to `budget` if there is one.
base::Result<Body> Decompress(std::string_view packed, size_t offset, uint64_t max_size,
                              std::shared_ptr<base::ByteBudget> budget = nullptr);

/// Packs the concatenation of `pieces` and appends it to `out`.
base::Status Compress(std::span<const tensor::ByteSpan> pieces, Encoding encoding,
                      codec::json::TextBuffer* out);

}  // namespace nereid::frontend::http
