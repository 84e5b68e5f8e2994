// SPDX-License-Identifier: Apache-2.0
#include "base/wire_reader.h"

namespace nereid::base {
namespace {

// As in libprotobuf, which keeps 16 bytes of slop below INT_MAX.
constexpr uint32_t kMaxBytesLength = 0x7fffffff - 16;

}  // namespace

bool WireReader::ReadLongVarint(uint64_t* value) {
  uint64_t result = 0;
  for (int i = 0; i < 10; ++i) {
    if (position_ == end_) return false;
    const uint8_t byte = static_cast<uint8_t>(*position_++);
    result |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  return false;
}

bool WireReader::ReadVarint32(uint32_t* value) {
  uint32_t result = 0;
  for (int i = 0; i < 5; ++i) {
    if (position_ == end_) return false;
    const uint8_t byte = static_cast<uint8_t>(*position_++);
    result |= static_cast<uint32_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  return false;
}

bool WireReader::ReadBytes(std::string_view* bytes) {
  // A length has at most five bytes, and the fifth at most the value 7: larger lengths exceed 2^31
  // and cannot be in a message.
  uint32_t size = 0;
  const char* const start = position_;
  if (!ReadVarint32(&size)) return false;
  if (position_ - start == 5 && static_cast<uint8_t>(position_[-1]) >= 8) return false;
  if (size > kMaxBytesLength || size > static_cast<size_t>(end_ - position_)) return false;
  *bytes = {position_, size};
  position_ += size;
  return true;
}

bool WireReader::SkipValue(uint32_t tag, int depth) {
  switch (static_cast<WireType>(tag & 7)) {
    case WireType::kVarint: {
      uint64_t value;
      return ReadVarint(&value);
    }
    case WireType::kFixed64: {
      uint64_t value;
      return ReadFixed64(&value);
    }
    case WireType::kLength: {
      std::string_view bytes;
      return ReadBytes(&bytes);
    }
    case WireType::kGroupStart:
      return SkipGroup(tag, depth);
    case WireType::kFixed32: {
      uint32_t value;
      return ReadFixed32(&value);
    }
    case WireType::kGroupEnd:
      break;
  }
  return false;
}

bool WireReader::SkipGroup(uint32_t start_tag, int depth) {
  if (--depth < 0) return false;
  while (true) {
    uint32_t tag = 0;
    if (done() || !ReadVarint32(&tag)) return false;
    // The end tag must have the field number of the start tag: kGroupEnd is kGroupStart + 1.
    if ((tag & 7) == static_cast<uint32_t>(WireType::kGroupEnd)) return tag == start_tag + 1;
    if (tag >> 3 == 0 || !SkipValue(tag, depth)) return false;
  }
}

}  // namespace nereid::base
