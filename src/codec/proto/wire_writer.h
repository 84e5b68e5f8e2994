// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "codec/proto/wire_reader.h"

namespace nereid::codec::proto {

/// Returns the bytes of a varint.
constexpr size_t VarintSize(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

/// Returns the bytes of a length-delimited field with a number below 16: tag, length and body.
constexpr size_t BytesFieldSize(uint64_t body) { return 1 + VarintSize(body) + body; }

/// Returns the bytes of a proto3 string field: 0 if it is empty.
constexpr size_t StringFieldSize(std::string_view text) {
  return text.empty() ? 0 : BytesFieldSize(text.size());
}

/// Writes protobuf's wire format to memory whose size the caller has computed. Field numbers must
/// be below 16.
class WireWriter {
 public:
  explicit WireWriter(char* to) : to_(to) {}

  char* position() const { return to_; }

  void Varint(uint64_t value) {
    while (value >= 0x80) {
      *to_++ = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    *to_++ = static_cast<char>(value);
  }
  void Tag(uint32_t field, WireType type) { *to_++ = static_cast<char>(MakeTag(field, type)); }
  /// Writes the tag and length of a field whose body the caller writes next.
  void BytesHeader(uint32_t field, uint64_t size) {
    Tag(field, WireType::kLength);
    Varint(size);
  }
  void Raw(std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(to_, bytes.data(), bytes.size());
    to_ += bytes.size();
  }
  /// Writes a proto3 string; nothing if it is empty.
  void String(uint32_t field, std::string_view text) {
    if (text.empty()) return;
    BytesHeader(field, text.size());
    Raw(text);
  }
  void VarintField(uint32_t field, uint64_t value) {
    Tag(field, WireType::kVarint);
    Varint(value);
  }
  void DoubleField(uint32_t field, double value) {
    Tag(field, WireType::kFixed64);
    std::memcpy(to_, &value, sizeof(value));
    to_ += sizeof(value);
  }

 private:
  char* to_;
};

}  // namespace nereid::codec::proto
