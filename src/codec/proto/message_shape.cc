// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/message_shape.h"

#include "codec/proto/wire_reader.h"

namespace nereid::codec::proto {
namespace {

constexpr int kMaxFields = 128;
constexpr uint32_t kInputs = MakeTag(5, WireType::kLength);
constexpr uint32_t kRawInputContents = MakeTag(7, WireType::kLength);
// Bytes of an input that are searched: the datatype is near its beginning.
constexpr size_t kSearched = 4096;

}  // namespace

MessageShape ShapeOf(std::string_view message) {
  MessageShape shape;
  WireReader reader(message);
  for (int fields = 0; !reader.done(); ++fields) {
    uint32_t tag = 0;
    if (fields == kMaxFields || !reader.ReadTag(&tag)) return shape;
    // All fields of the message have this wire type.
    std::string_view body;
    if ((tag & 7) != static_cast<uint32_t>(WireType::kLength) || !reader.ReadBytes(&body)) {
      return shape;
    }
    if (tag == kRawInputContents) {
      shape.raw_bytes += body.size();
    } else if (tag == kInputs) {
      shape.has_bytes_input |= body.substr(0, kSearched).find("BYTES") != std::string_view::npos;
    }
  }
  shape.known = true;
  shape.structure_bytes = message.size() - shape.raw_bytes;
  return shape;
}

}  // namespace nereid::codec::proto
