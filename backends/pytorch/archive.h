// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "nereid/backend/error.h"

namespace nereid::pytorch {

using backend::Error;

/// The sizes that an archive declares, in bytes, and its number of records.
struct ArchiveSizes {
  uint64_t file = 0;
  uint64_t records = 0;
  /// The size of all records after unpacking.
  uint64_t unpacked = 0;
};

/// The number of bytes by which the unpacked records may exceed the file. Code is compressed to
/// about a tenth; weights are not compressed.
constexpr uint64_t kMaxUnpacked = uint64_t{256} << 20;

/// Reads the central directory of a ZIP file (APPNOTE 4.3.12 to 4.3.16, with ZIP64). INVALID_ARG
/// with the reason if the file is not a ZIP archive, is truncated, or would unpack to more than its
/// size plus kMaxUnpacked.
Error CheckArchive(const std::string& path, ArchiveSizes* sizes);

}  // namespace nereid::pytorch
