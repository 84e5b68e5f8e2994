// SPDX-License-Identifier: Apache-2.0
#include "pytorch/archive.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string_view>

namespace nereid::pytorch {
namespace {

constexpr uint64_t kEndSize = 22;
constexpr uint64_t kEnd64LocatorSize = 20;
constexpr uint64_t kEnd64Size = 56;
constexpr uint64_t kEntrySize = 46;
/// The largest central directory that is read; no model has a larger one.
constexpr uint64_t kLargestList = uint64_t{512} << 20;

template <typename Number>
Number At(std::string_view bytes, size_t place) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + place, sizeof(number));
  return number;
}

class ArchiveFile {
 public:
  explicit ArchiveFile(const std::string& path) : stream_(path, std::ios::binary) {
    stream_.seekg(0, std::ios::end);
    size_ = stream_ ? static_cast<uint64_t>(stream_.tellg()) : 0;
  }

  uint64_t size() const { return size_; }

  /// Returns `count` bytes at `offset`, or an empty string if the file does not have them.
  std::string Read(uint64_t offset, uint64_t count) {
    if (offset > size_ || count > size_ - offset) {
      return {};
    }
    std::string bytes(count, '\0');
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(bytes.data(), static_cast<std::streamsize>(count));
    return stream_ ? bytes : std::string();
  }

 private:
  std::ifstream stream_;
  uint64_t size_ = 0;
};

/// The position of the central directory.
struct Place {
  uint64_t offset = 0;
  uint64_t size = 0;
};

bool FindList(ArchiveFile* file, Place* list) {
  const uint64_t tail_size = std::min<uint64_t>(file->size(), kEndSize + UINT16_MAX);
  const std::string tail = file->Read(file->size() - tail_size, tail_size);
  // The end record is searched from the back, because a comment of up to 65535 bytes may follow it.
  // It holds the size of the directory at offset 12 and its position at 16.
  const size_t end = tail.rfind("PK\x05\x06");
  if (end == std::string::npos || tail.size() - end < kEndSize) {
    return false;
  }
  *list = {At<uint32_t>(tail, end + 16), At<uint32_t>(tail, end + 12)};
  const uint64_t end_offset = file->size() - tail_size + end;
  if (end_offset < kEnd64LocatorSize) {
    return true;
  }
  const std::string locator = file->Read(end_offset - kEnd64LocatorSize, kEnd64LocatorSize);
  // A ZIP64 file has a locator before the end record. The locator holds the position of the ZIP64
  // end record at offset 8, which has size and position of the directory at 40 and 48.
  if (!locator.starts_with("PK\x06\x07")) {
    return true;
  }
  const std::string end64 = file->Read(At<uint64_t>(locator, 8), kEnd64Size);
  if (!end64.starts_with("PK\x06\x06")) {
    return false;
  }
  *list = {At<uint64_t>(end64, 48), At<uint64_t>(end64, 40)};
  return true;
}

/// Returns the unpacked size of an entry. ZIP64 stores it in an extra field.
uint64_t UnpackedSize(std::string_view entry, std::string_view extra) {
  const auto size = At<uint32_t>(entry, 24);
  if (size != UINT32_MAX) {
    return size;
  }
  while (extra.size() >= 4) {
    // An extra field is a 16-bit id, a 16-bit length and its data. Id 1 is ZIP64, which begins with
    // the unpacked size.
    const auto length = At<uint16_t>(extra, 2);
    if (At<uint16_t>(extra, 0) == 1 && length >= 8 && extra.size() >= 12) {
      return At<uint64_t>(extra, 4);
    }
    extra.remove_prefix(std::min<size_t>(extra.size(), 4U + length));
  }
  return size;
}

}  // namespace

Error CheckArchive(const std::string& path, ArchiveSizes* sizes) {
  ArchiveFile file(path);
  sizes->file = file.size();
  if (file.size() == 0) {
    return Error::InvalidArgument("the file is empty or cannot be read");
  }
  Place place;
  if (!FindList(&file, &place)) {
    return Error::InvalidArgument(
        "it is no ZIP archive, which torch.jit.save writes, or is cut off");
  }
  const std::string list = place.size <= kLargestList ? file.Read(place.offset, place.size) : "";
  std::string_view rest = list;
  while (rest.size() >= kEntrySize && rest.starts_with("PK\x01\x02")) {
    const uint64_t name = At<uint16_t>(rest, 28);
    const uint64_t extra = At<uint16_t>(rest, 30);
    const uint64_t comment = At<uint16_t>(rest, 32);
    if (kEntrySize + name + extra + comment > rest.size()) {
      break;
    }
    const uint64_t unpacked = UnpackedSize(rest, rest.substr(kEntrySize + name, extra));
    sizes->records += 1;
    sizes->unpacked += std::min(unpacked, UINT64_MAX - sizes->unpacked);
    rest.remove_prefix(kEntrySize + name + extra + comment);
  }
  if (!rest.empty() || sizes->records == 0) {
    return Error::InvalidArgument("the list of records at its end is empty or damaged");
  }
  if (sizes->unpacked > sizes->file + kMaxUnpacked) {
    return Error::InvalidArgument("its " + std::to_string(sizes->file) + " bytes would unpack to " +
                                  std::to_string(sizes->unpacked) + ", more than any model");
  }
  return {};
}

}  // namespace nereid::pytorch
