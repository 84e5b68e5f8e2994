// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/ranged_read.h"

#include <optional>

#include "base/parse_number.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

/// The field "Content-Range: bytes FIRST-LAST/TOTAL" (RFC 9110, section 14.4).
struct ContentRange {
  uint64_t first = 0;
  uint64_t last = 0;
  std::optional<uint64_t> total = std::nullopt;  // "*": unknown
};

std::optional<ContentRange> ParseContentRange(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  const size_t dash = text.find('-');
  const size_t slash = text.find('/');
  if (dash == text.npos || slash == text.npos || dash > slash) return std::nullopt;
  const auto first = base::ParseWhole<uint64_t>(text.substr(0, dash));
  const auto last = base::ParseWhole<uint64_t>(text.substr(dash + 1, slash - dash - 1));
  const auto total = base::ParseWhole<uint64_t>(text.substr(slash + 1));
  if (!first || !last || (!total && text.substr(slash + 1) != "*")) return std::nullopt;
  return ContentRange{*first, *last, total};
}

}  // namespace

Status RangedRead::TakeHead(const curl::HttpResponse& head) {
  const auto resized = [&](uint64_t size) {
    return Status::AlreadyExists("the object has " + std::to_string(size) + " bytes, and had " +
                                 std::to_string(object_size_) + " when it was listed");
  };
  if (head.status == 200) {
    // The whole object: of use if that was asked for.
    const auto length = base::ParseWhole<uint64_t>(head.field("content-length"));
    if (range_.offset == 0 && range_.size == object_size_) {
      return length && *length != object_size_ ? resized(*length) : Status();
    }
    return Status::Internal("the store sent a whole object, although a part was requested");
  }
  const auto sent = ParseContentRange(head.field("content-range"));
  if (head.status != 206 || !sent) {
    return Status::Internal("the store answered the request of a part with status " +
                            std::to_string(head.status) + " and without a valid Content-Range");
  }
  if (sent->total && *sent->total != object_size_) return resized(*sent->total);
  if (sent->first != range_.offset || sent->last != range_.offset + (range_.size - 1)) {
    return Status::Internal("the store sent the bytes " + std::to_string(sent->first) + " to " +
                            std::to_string(sent->last) + " of an object, although " +
                            std::to_string(range_.size) + " bytes from " +
                            std::to_string(range_.offset) + " were requested");
  }
  return {};
}

Status RangedRead::TakeBody(std::string_view piece) {
  if (piece.size() > range_.size - received_) {
    return Status::Internal("the store sent more than the " + std::to_string(range_.size) +
                            " bytes that were requested");
  }
  received_ += piece.size();
  return sink_(piece);
}

Status RangedRead::Finish() const {
  if (received_ == range_.size) return {};
  return Status::Unavailable("the response was cut off: " + std::to_string(received_) + " of " +
                             std::to_string(range_.size) + " bytes arrived");
}

}  // namespace nereid::repository::storage
