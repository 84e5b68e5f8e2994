// SPDX-License-Identifier: Apache-2.0
// The fields of a protobuf message for which there is no generated class.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/wire_reader.h"

namespace nereid::base {

/// One field of a message.
struct WireField {
  uint32_t number = 0;
  uint64_t varint = 0;     // the value of a number
  std::string_view bytes;  // the value of a text or a message
};

/// Calls visit(field) for the numbers (varints) and byte sequences of a message, and skips all
/// other fields. Returns false if the bytes are not a message, or if visit returns false.
template <typename Visit>
bool ForEachField(std::string_view message, Visit visit) {
  WireReader reader(message);
  while (!reader.done()) {
    uint32_t tag = 0;
    if (!reader.ReadTag(&tag)) return false;
    WireField field;
    field.number = tag >> 3;
    const auto type = static_cast<WireType>(tag & 7);
    if (type == WireType::kVarint) {
      if (!reader.ReadVarint(&field.varint)) return false;
    } else if (type == WireType::kLength) {
      if (!reader.ReadBytes(&field.bytes)) return false;
    } else {
      if (!reader.SkipValue(tag, kMaxWireDepth)) return false;
      continue;
    }
    if (!visit(field)) return false;
  }
  return true;
}

}  // namespace nereid::base
