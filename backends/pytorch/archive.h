// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "nereid/backend/error.h"

namespace nereid::pytorch {

using backend::Error;

/// What an archive says of its records, before any of them is read.
struct ArchiveSizes {
  uint64_t file = 0;
  uint64_t records = 0;
  /// Once they are all unpacked.
  uint64_t unpacked = 0;
};

/// So much more than its file an archive may unpack to: code is packed to a tenth, weights are not
/// packed at all.
constexpr uint64_t kMostUnpacked = uint64_t{256} << 20;

/// Reads the list of records at the end of a ZIP file (APPNOTE 4.3.12 to 4.3.16, with ZIP64).
/// INVALID_ARG saying what is wrong where it is none, is cut off, or unpacks to more than the
/// file's size and kMostUnpacked.
Error CheckArchive(const std::string& path, ArchiveSizes* sizes);

}  // namespace nereid::pytorch
