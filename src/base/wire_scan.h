// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "base/byte_source.h"
#include "base/wire_reader.h"

namespace nereid::base {

/// A field of a protobuf message in a file. The bytes of texts and messages are not read.
struct ScannedField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;   // of a varint
  uint64_t offset = 0;  // of the bytes of a text or a message
  uint64_t size = 0;    // of the bytes of a text or a message
};

enum class ScanEnd {
  kWhole,      // the message is whole
  kStopped,    // `visit` has ended the scan
  kCutOff,     // a field is longer than the rest of the message
  kMalformed,  // the bytes are not a message
};

/// Calls `visit` for the fields of the message at `offset` with `size` bytes, until it returns
/// false. Reads only the tags and lengths, so a message of gigabytes takes few reads. Groups are
/// malformed here: no model format has them.
ScanEnd ScanFields(const ByteSource& file, uint64_t offset, uint64_t size,
                   const std::function<bool(const ScannedField&)>& visit);

}  // namespace nereid::base
