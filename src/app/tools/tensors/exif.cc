// SPDX-License-Identifier: Apache-2.0
#include "app/tools/tensors/exif.h"

#include <cstddef>
#include <cstdint>

namespace nereid::app::tools {
namespace {

using namespace std::string_view_literals;

constexpr uint16_t kOrientationTag = 0x0112;
constexpr uint16_t kShort = 3;  // the type of 16-bit numbers
constexpr size_t kEntryBytes = 12;

/// Numbers of a TIFF structure, in its byte order. Numbers beyond its end are 0.
class Tiff {
 public:
  explicit Tiff(std::string_view bytes)
      : bytes_(bytes), is_little_endian_(bytes.starts_with("II*\0"sv)) {}

  uint32_t Number(size_t at, size_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) return 0;
    uint32_t number = 0;
    for (size_t i = 0; i < size; ++i) {
      const size_t place = is_little_endian_ ? at + size - 1 - i : at + i;
      number = number << 8 | static_cast<unsigned char>(bytes_[place]);
    }
    return number;
  }
  uint16_t Short(size_t at) const { return static_cast<uint16_t>(Number(at, 2)); }

 private:
  std::string_view bytes_;
  bool is_little_endian_;
};

/// Finds the field in the first directory: a number of entries, then for each entry the tag, the
/// type, the count and the value.
int OrientationOf(std::string_view bytes) {
  if (!bytes.starts_with("II*\0"sv) && !bytes.starts_with("MM\0*"sv)) return 1;
  const Tiff tiff(bytes);
  const size_t directory = tiff.Number(4, 4);
  const size_t entries = tiff.Short(directory);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (tiff.Short(entry) != kOrientationTag || tiff.Short(entry + 2) != kShort) continue;
    const int value = tiff.Short(entry + 8);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

}  // namespace

int ExifOrientation(std::string_view jpeg) {
  constexpr std::string_view kExif = "Exif\0\0"sv;
  constexpr unsigned char kApp1 = 0xe1, kStartOfScan = 0xda;
  // Segments follow the two bytes of the start: 0xff, the kind, and a size that includes itself.
  for (size_t at = 2; at + 4 <= jpeg.size();) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(jpeg[at + i]); };
    const size_t size = size_t{byte(2)} << 8 | byte(3);
    if (byte(0) != 0xff || byte(1) == kStartOfScan || size < 2) return 1;
    if (size > jpeg.size() - at - 2) return 1;
    const std::string_view content = jpeg.substr(at + 4, size - 2);
    if (byte(1) == kApp1 && content.starts_with(kExif)) {
      return OrientationOf(content.substr(kExif.size()));
    }
    at += 2 + size;
  }
  return 1;
}

}  // namespace nereid::app::tools
