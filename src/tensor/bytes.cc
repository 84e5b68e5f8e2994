// SPDX-License-Identifier: Apache-2.0
#include "tensor/bytes.h"

#include <cstring>
#include <string>

namespace nereid::tensor {
namespace {

/// Reads a list of pieces as one stream of bytes.
class PieceReader {
 public:
  explicit PieceReader(std::span<const ByteSpan> pieces) : pieces_(pieces) {
    for (const ByteSpan& piece : pieces) remaining_ += piece.size;
  }

  size_t remaining() const { return remaining_; }

  /// Returns the next `size` bytes (at most remaining()). Bytes that are split between pieces are
  /// copied to `scratch`.
  std::string_view Take(size_t size, std::string* scratch) {
    while (index_ < pieces_.size() && offset_ == pieces_[index_].size) {
      ++index_;
      offset_ = 0;
    }
    remaining_ -= size;
    if (size == 0) return {};
    if (pieces_[index_].size - offset_ >= size) {
      const std::string_view view(pieces_[index_].data + offset_, size);
      offset_ += size;
      return view;
    }
    scratch->clear();
    while (scratch->size() < size) {
      if (offset_ == pieces_[index_].size) {
        ++index_;
        offset_ = 0;
        continue;
      }
      const size_t part = std::min(size - scratch->size(), pieces_[index_].size - offset_);
      scratch->append(pieces_[index_].data + offset_, part);
      offset_ += part;
    }
    return *scratch;
  }

 private:
  std::span<const ByteSpan> pieces_;
  size_t index_ = 0;
  size_t offset_ = 0;
  size_t remaining_ = 0;
};

template <typename Visit>
base::Status Walk(std::span<const ByteSpan> pieces, int64_t expected_count,
                  std::string_view subject, const Visit& visit) {
  PieceReader reader(pieces);
  std::string scratch;
  int64_t count = 0;
  while (reader.remaining() > 0) {
    if (count >= expected_count) {
      return base::Status::InvalidArgument(
          "unexpected number of string elements " + std::to_string(count + 1) + " for " +
          std::string(subject) + ", expecting " + std::to_string(expected_count));
    }
    if (reader.remaining() < sizeof(uint32_t)) {
      return base::Status::InvalidArgument("incomplete string length indicator for " +
                                           std::string(subject) + ", expecting 4 bytes but only " +
                                           std::to_string(reader.remaining()) +
                                           " bytes available.");
    }
    uint32_t length;
    std::memcpy(&length, reader.Take(sizeof(length), &scratch).data(), sizeof(length));
    if (reader.remaining() < length) {
      return base::Status::InvalidArgument("incomplete string data for " + std::string(subject) +
                                           ", expecting string of length " +
                                           std::to_string(length) + " but only " +
                                           std::to_string(reader.remaining()) + " bytes available");
    }
    visit(reader.Take(length, &scratch));
    ++count;
  }
  if (count != expected_count) {
    return base::Status::InvalidArgument("expected " + std::to_string(expected_count) +
                                         " string elements for " + std::string(subject) + ", got " +
                                         std::to_string(count));
  }
  return base::Status::Ok();
}

}  // namespace

base::Status ForEachBytesElement(std::span<const ByteSpan> pieces, int64_t expected_count,
                                 std::string_view subject,
                                 const std::function<void(std::string_view)>& visit) {
  return Walk(pieces, expected_count, subject, visit);
}

base::Status CheckBytesElements(std::span<const ByteSpan> pieces, int64_t expected_count,
                                std::string_view subject) {
  return Walk(pieces, expected_count, subject, [](std::string_view) {});
}

void AppendBytesElement(std::string_view element, std::string* out) {
  const auto length = static_cast<uint32_t>(element.size());
  char prefix[sizeof(length)];
  std::memcpy(prefix, &length, sizeof(length));
  out->append(prefix, sizeof(prefix)).append(element);
}

}  // namespace nereid::tensor
