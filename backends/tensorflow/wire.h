// SPDX-License-Identifier: Apache-2.0
// Protobuf's wire format, as far as the backend needs it: TensorFlow's own messages are read and
// written without TensorFlow's protobuf library, whose symbols would meet those of others.
// https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nereid::tensorflow {

/// Reads the fields of a message one after the other. What is broken ends the reading. A number has
/// no text, and a text leaves the number as it was.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  /// Goes to the next field; false at the end, or where the bytes are no message.
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
  /// Of a number.
  uint64_t number() const { return number_; }
  int64_t signed_number() const { return static_cast<int64_t>(number_); }
  /// Of a text, bytes or a message.
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

/// Appends a field of a whole number.
inline void AppendNumber(uint32_t field, int64_t value, std::string* out) {
  const auto varint = [out](uint64_t number) {
    for (; number >= 0x80; number >>= 7) {
      out->push_back(static_cast<char>(number | 0x80));
    }
    out->push_back(static_cast<char>(number));
  };
  varint(uint64_t{field} << 3);
  varint(static_cast<uint64_t>(value));
}

/// Appends a field that is a message.
inline void AppendMessage(uint32_t field, const std::string& message, std::string* out) {
  out->push_back(static_cast<char>(field << 3 | 2));  // fields below 16
  out->push_back(static_cast<char>(message.size()));  // messages below 128 bytes
  out->append(message);
}

}  // namespace nereid::tensorflow
