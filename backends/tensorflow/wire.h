// SPDX-License-Identifier: Apache-2.0
// A reader and a writer of protobuf's wire format, as far as the backend needs it. TensorFlow's
// messages are processed without its protobuf library, whose symbols would conflict with those of
// other versions. https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nereid::tensorflow {

/// Reads the fields of a message in order. Reading ends at malformed bytes. After a number text()
/// is empty; after a text number() keeps its old value.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  /// Advances to the next field. Returns false at the end or at malformed bytes.
  bool Next() {
    uint64_t key = 0;
    if (rest_.empty() || !Varint(&key)) {
      return false;
    }
    field_ = static_cast<uint32_t>(key >> 3);
    switch (key & 7) {
      case 0:
        text_ = {};
        return Varint(&number_);
      case 1:
        return Skip(8);
      case 2: {
        uint64_t size = 0;
        if (!Varint(&size) || size > rest_.size()) {
          return Broken();
        }
        text_ = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return true;
      }
      case 5:
        return Skip(4);
      default:
        return Broken();
    }
  }

  uint32_t field() const { return field_; }
  /// The value of a number field.
  uint64_t number() const { return number_; }
  int64_t signed_number() const { return static_cast<int64_t>(number_); }
  /// The content of a string, bytes or message field.
  std::string_view text() const { return text_; }

 private:
  bool Broken() {
    rest_ = {};
    return false;
  }
  bool Skip(size_t size) {
    text_ = {};
    if (size > rest_.size()) {
      return Broken();
    }
    rest_.remove_prefix(size);
    return true;
  }
  bool Varint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) {
        return true;
      }
    }
    return Broken();
  }

  std::string_view rest_;
  uint32_t field_ = 0;
  uint64_t number_ = 0;
  std::string_view text_;
};

inline void AppendVarint(uint64_t number, std::string* out) {
  for (; number >= 0x80; number >>= 7) {
    out->push_back(static_cast<char>(number | 0x80));
  }
  out->push_back(static_cast<char>(number));
}

/// Appends a varint field.
inline void AppendNumber(uint32_t field, int64_t value, std::string* out) {
  AppendVarint(uint64_t{field} << 3, out);
  AppendVarint(static_cast<uint64_t>(value), out);
}

/// Appends a field that is a message.
inline void AppendMessage(uint32_t field, const std::string& message, std::string* out) {
  AppendVarint(uint64_t{field} << 3 | 2, out);
  AppendVarint(message.size(), out);
  out->append(message);
}

}  // namespace nereid::tensorflow
