// SPDX-License-Identifier: Apache-2.0
#include "base/zip_directory.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace nereid::base {
namespace {

constexpr uint64_t kEndSize = 22;
constexpr uint64_t kEnd64LocatorSize = 20;
constexpr uint64_t kEnd64Size = 56;
constexpr uint64_t kEntrySize = 46;
constexpr uint64_t kLocalHeaderSize = 30;

template <typename Number>
Number At(std::string_view bytes, size_t place) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + place, sizeof(number));
  return number;
}

/// Returns exactly `count` bytes, or an empty string if the file does not have them.
std::string ReadAll(const ByteSource& file, uint64_t offset, uint64_t count) {
  if (offset > file.size() || count > file.size() - offset) return {};
  std::string bytes = file.Read(offset, count);
  return bytes.size() == count ? bytes : std::string();
}

/// The position of the directory.
struct Place {
  uint64_t offset = 0;
  uint64_t size = 0;
};

bool FindDirectory(const ByteSource& file, Place* directory) {
  const uint64_t tail_size = std::min<uint64_t>(file.size(), kEndSize + UINT16_MAX);
  const std::string tail = ReadAll(file, file.size() - tail_size, tail_size);
  // The end record is searched from the back, because a comment of up to 65535 bytes may follow it.
  // It holds the size of the directory at offset 12 and its position at 16.
  const size_t end = tail.rfind("PK\x05\x06");
  if (end == std::string::npos || tail.size() - end < kEndSize) return false;
  *directory = {At<uint32_t>(tail, end + 16), At<uint32_t>(tail, end + 12)};
  const uint64_t end_offset = file.size() - tail_size + end;
  if (end_offset < kEnd64LocatorSize) return true;
  const std::string locator = ReadAll(file, end_offset - kEnd64LocatorSize, kEnd64LocatorSize);
  // A ZIP64 file has a locator before the end record. The locator holds the position of the ZIP64
  // end record at offset 8, which has size and position of the directory at 40 and 48.
  if (!locator.starts_with("PK\x06\x07")) return true;
  const std::string end64 = ReadAll(file, At<uint64_t>(locator, 8), kEnd64Size);
  if (!end64.starts_with("PK\x06\x06")) return false;
  *directory = {At<uint64_t>(end64, 48), At<uint64_t>(end64, 40)};
  return true;
}

/// Replaces the numbers of an entry that are all ones by those of its ZIP64 field. An extra field
/// is a 16-bit id, a 16-bit length and its data. Id 1 is ZIP64: the numbers that are all ones, in
/// the order size, packed size, offset.
void ReadZip64(std::string_view extra, ZipEntry* entry) {
  while (extra.size() >= 4) {
    const size_t length = std::min<size_t>(At<uint16_t>(extra, 2), extra.size() - 4);
    std::string_view data = extra.substr(4, length);
    if (At<uint16_t>(extra, 0) == 1) {
      for (uint64_t* number : {&entry->size, &entry->packed_size, &entry->offset}) {
        if (*number != UINT32_MAX || data.size() < 8) continue;
        *number = At<uint64_t>(data, 0);
        data.remove_prefix(8);
      }
      return;
    }
    extra.remove_prefix(4 + length);
  }
}

}  // namespace

Result<std::vector<ZipEntry>> ReadZipDirectory(const ByteSource& file,
                                               uint64_t max_directory_bytes) {
  Place place;
  if (!FindDirectory(file, &place)) {
    return Status::InvalidArgument("it is no ZIP archive or is cut off");
  }
  const std::string bytes =
      place.size <= max_directory_bytes ? ReadAll(file, place.offset, place.size) : "";
  std::string_view rest = bytes;
  std::vector<ZipEntry> entries;
  while (rest.size() >= kEntrySize && rest.starts_with("PK\x01\x02")) {
    const uint64_t name = At<uint16_t>(rest, 28);
    const uint64_t extra = At<uint16_t>(rest, 30);
    const uint64_t comment = At<uint16_t>(rest, 32);
    if (kEntrySize + name + extra + comment > rest.size()) break;
    ZipEntry& entry = entries.emplace_back();
    entry.name = rest.substr(kEntrySize, name);
    entry.method = At<uint16_t>(rest, 10);
    entry.packed_size = At<uint32_t>(rest, 20);
    entry.size = At<uint32_t>(rest, 24);
    entry.offset = At<uint32_t>(rest, 42);
    ReadZip64(rest.substr(kEntrySize + name, extra), &entry);
    rest.remove_prefix(kEntrySize + name + extra + comment);
  }
  if (!rest.empty() || entries.empty()) {
    return Status::InvalidArgument("the list of records at its end is empty or damaged");
  }
  return entries;
}

Result<uint64_t> ZipDataOffset(const ByteSource& file, const ZipEntry& entry) {
  const std::string header = ReadAll(file, entry.offset, kLocalHeaderSize);
  if (!header.starts_with("PK\x03\x04")) {
    return Status::InvalidArgument("the record '" + entry.name + "' is damaged");
  }
  // The lengths of name and extra field may differ from those in the directory.
  return entry.offset + kLocalHeaderSize + At<uint16_t>(header, 26) + At<uint16_t>(header, 28);
}

}  // namespace nereid::base
