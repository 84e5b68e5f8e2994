// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace nereid::base {

enum class WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kLength = 2,
  kGroupStart = 3,
  kGroupEnd = 4,
  kFixed32 = 5,
};

/// The maximum nesting of messages and groups below the outermost message: protobuf's own limit.
inline constexpr int kMaxWireDepth = 100;

/// Returns the tag of a field: its number and wire type.
constexpr uint32_t MakeTag(uint32_t field, WireType type) {
  return field << 3 | static_cast<uint32_t>(type);
}

/// A cursor over the bytes of one protobuf message. Accepts and rejects exactly what libprotobuf's
/// parser does. Functions return false on malformed bytes; the cursor is unusable afterwards. Not
/// thread-safe.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes)
      : position_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool done() const { return position_ == end_; }
  /// Returns how many bytes have not been read.
  size_t left() const { return static_cast<size_t>(end_ - position_); }

  /// Reads the next field's tag. Rejects field number 0, the end of a group that was not started,
  /// and encodings longer than five bytes.
  bool ReadTag(uint32_t* tag) {
    if (!ReadVarint32(tag)) return false;
    return *tag >> 3 != 0 && (*tag & 7) != static_cast<uint32_t>(WireType::kGroupEnd);
  }

  /// Reads at most ten bytes; bits above the 64th are dropped.
  bool ReadVarint(uint64_t* value) {
    if (position_ != end_ && static_cast<uint8_t>(*position_) < 0x80) {
      *value = static_cast<uint8_t>(*position_++);
      return true;
    }
    return ReadLongVarint(value);
  }

  /// Reads bytes that are preceded by their length. The view is into the message.
  bool ReadBytes(std::string_view* bytes);

  bool ReadFixed32(uint32_t* value) { return ReadFixed(value); }
  bool ReadFixed64(uint64_t* value) { return ReadFixed(value); }

  /// Skips the value of an unknown field. `depth` is how deep groups may be nested in it.
  bool SkipValue(uint32_t tag, int depth);

 private:
  bool ReadLongVarint(uint64_t* value);
  bool ReadVarint32(uint32_t* value);
  bool SkipGroup(uint32_t start_tag, int depth);

  template <typename T>
  bool ReadFixed(T* value) {
    if (static_cast<size_t>(end_ - position_) < sizeof(T)) return false;
    std::memcpy(value, position_, sizeof(T));
    position_ += sizeof(T);
    return true;
  }

  const char* position_;
  const char* end_;
};

}  // namespace nereid::base
