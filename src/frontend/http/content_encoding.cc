// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/content_encoding.h"

#include <optional>
#include <string>
#include <utility>

#include "base/parse_number.h"
#include "frontend/http/field_text.h"
#include "frontend/http/refusal.h"

namespace nereid::frontend::http {
namespace {

using base::Status;
using codec::compression::Inflated;

/// Returns the weight ("q=0.5") among the parameters of an Accept-Encoding element; 1 if there is
/// none, 0 if it is not a number.
double Weight(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string_view parameter = Trim(TakeUntil(&parameters, ';'));
    if (EqualsIgnoringCase(parameter.substr(0, 2), "q=")) {
      return base::ParseWhole<double>(parameter.substr(2)).value_or(0);
    }
  }
  return 1.0;
}

Status TooBig(uint64_t max_size) {
  return Status::InvalidArgument("Decompressed data size exceeds the maximum allowed value of " +
                                 std::to_string(max_size) +
                                 " bytes. Use --http-max-input-size to increase the limit.");
}

Status TooDense(size_t packed, uint64_t limit) {
  return Status::InvalidArgument("the compressed request body of " + std::to_string(packed) +
                                 " bytes inflates to more than " + std::to_string(limit) +
                                 " bytes. Compress it less, or send it uncompressed.");
}

}  // namespace

base::Result<Encoding> EncodingFromName(std::string_view name) {
  name = Trim(name);
  if (name.empty()) return Encoding::kIdentity;
  for (const Encoding known : {Encoding::kIdentity, Encoding::kDeflate, Encoding::kGzip}) {
    if (EqualsIgnoringCase(name, EncodingName(known))) return known;
  }
  // RFC 9110, section 8.4.1.3: an old name of gzip.
  if (EqualsIgnoringCase(name, "x-gzip")) return Encoding::kGzip;
  return Status::Unsupported("Unsupported compression type");
}

Encoding BestEncoding(std::string_view accepted) {
  Encoding best = Encoding::kIdentity;
  double best_weight = 0;
  while (!accepted.empty()) {
    std::string_view element = TakeUntil(&accepted, ',');
    const std::string_view name = Trim(TakeUntil(&element, ';'));
    if (name.empty()) continue;
    const base::Result<Encoding> encoding = EncodingFromName(name);
    if (!encoding.ok()) continue;
    const double weight = Weight(element);
    if (weight <= best_weight) continue;
    best = *encoding;
    best_weight = weight;
  }
  return best;
}

base::Result<Body> Decompress(std::string_view packed, size_t offset, uint64_t max_size,
                              std::shared_ptr<base::ByteBudget> budget) {
  if (packed.empty()) return Status::InvalidArgument("nothing to be decompressed");
  const uint64_t limit = codec::compression::InflationLimit(packed.size(), max_size);
  Inflated plain =
      codec::compression::Inflate(packed, std::nullopt, offset, limit, std::move(budget));
  switch (plain.outcome) {
    case Inflated::Outcome::kDone:
      break;
    case Inflated::Outcome::kTooLarge:
      return limit == max_size ? TooBig(max_size) : TooDense(packed.size(), limit);
    case Inflated::Outcome::kIncomplete:
      return Status::InvalidArgument("the compressed request body is incomplete");
    case Inflated::Outcome::kDamaged:
      return Status::InvalidArgument(
          "the compressed request body cannot be decompressed: it is neither gzip nor zlib data, "
          "or damaged");
    case Inflated::Outcome::kNoMemory:
      return Status::Unavailable("not enough memory for compression");
    case Inflated::Outcome::kOverBudget:
      return Status::Unavailable(RefusalOf(memory::ReceiveBuffer::Outcome::kOverBudget).text);
  }
  Body body;
  body.buffer = std::move(plain.buffer);
  body.offset = offset;
  body.size = plain.size;
  return body;
}

Status DecompressBody(Exchange& exchange, uint64_t max_size,
                      std::shared_ptr<base::ByteBudget> budget) {
  if (exchange.head().content_encoding.empty()) return Status::Ok();
  const base::Result<Encoding> encoding = EncodingFromName(exchange.head().content_encoding);
  if (!encoding.ok()) {
    exchange.reply().extra_fields = "Accept-Encoding: gzip, deflate\r\n";
    return encoding.status();
  }
  if (*encoding == Encoding::kIdentity) return Status::Ok();
  NEREID_ASSIGN_OR_RETURN(Body body, Decompress(exchange.body().view(), exchange.body().offset,
                                                max_size, std::move(budget)));
  exchange.ReplaceBody(std::move(body));
  return Status::Ok();
}

Status Compress(std::span<const tensor::ByteSpan> pieces, Encoding encoding,
                codec::json::TextBuffer* out) {
  return codec::compression::Deflate(pieces, encoding, codec::compression::kDefaultLevel,
                                     [out](std::string_view packed) {
                                       *out << packed;
                                       return out->ok();
                                     });
}

}  // namespace nereid::frontend::http
