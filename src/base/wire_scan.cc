// SPDX-License-Identifier: Apache-2.0
#include "base/wire_scan.h"

#include <algorithm>
#include <string>

namespace nereid::base {
namespace {

/// The longest tag, and the longest varint or fixed value that follows it.
constexpr size_t kMaxHeadSize = 5 + 10;

/// The bytes around the position of the scan, so that small fields share a read.
class Window {
 public:
  Window(const ByteSource& file, uint64_t end) : file_(file), end_(end) {}

  /// Returns the bytes from `offset`, at least kMaxHeadSize of them where the message has as many.
  std::string_view At(uint64_t offset) {
    const bool covered = offset >= begin_ && offset + kMaxHeadSize <= begin_ + bytes_.size();
    if (!covered) {
      // A field that was skipped is probably followed by another long one.
      constexpr uint64_t kNear = 4096;
      const bool near = offset >= begin_ && offset - begin_ <= bytes_.size() + kNear;
      const uint64_t wanted = near ? kNear * 4 : 64;
      bytes_ = file_.Read(offset, static_cast<size_t>(std::min(wanted, end_ - offset)));
      begin_ = offset;
    }
    return std::string_view(bytes_).substr(offset - begin_);
  }

 private:
  const ByteSource& file_;
  const uint64_t end_;
  uint64_t begin_ = 0;
  std::string bytes_;
};

}  // namespace

ScanEnd ScanFields(const ByteSource& file, uint64_t offset, uint64_t size,
                   const std::function<bool(const ScannedField&)>& visit) {
  if (offset > file.size()) return ScanEnd::kCutOff;
  const bool is_short = size > file.size() - offset;
  const uint64_t end = is_short ? file.size() : offset + size;
  Window window(file, end);
  while (offset < end) {
    const std::string_view bytes = window.At(offset);
    WireReader reader(bytes);
    const bool at_end = bytes.size() < kMaxHeadSize;
    const auto failed = [&] { return at_end ? ScanEnd::kCutOff : ScanEnd::kMalformed; };
    uint32_t tag = 0;
    if (!reader.ReadTag(&tag)) return failed();
    ScannedField field;
    field.number = tag >> 3;
    field.type = static_cast<WireType>(tag & 7);
    uint64_t fixed64 = 0;
    uint32_t fixed32 = 0;
    bool read = false;
    switch (field.type) {
      case WireType::kVarint:
        read = reader.ReadVarint(&field.value);
        break;
      case WireType::kLength:
        read = reader.ReadVarint(&field.size);
        break;
      case WireType::kFixed64:
        read = reader.ReadFixed64(&fixed64);
        break;
      case WireType::kFixed32:
        read = reader.ReadFixed32(&fixed32);
        break;
      default:
        return ScanEnd::kMalformed;
    }
    if (!read) return failed();
    field.offset = offset + (bytes.size() - reader.left());
    if (field.size > end - field.offset) return ScanEnd::kCutOff;
    if (!visit(field)) return ScanEnd::kStopped;
    offset = field.offset + field.size;
  }
  return is_short ? ScanEnd::kCutOff : ScanEnd::kWhole;
}

}  // namespace nereid::base
