// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"

namespace nereid::base {

/// An entry of the directory of a ZIP file.
struct ZipEntry {
  std::string name;
  /// 0: stored, 8: deflated.
  uint16_t method = 0;
  uint64_t packed_size = 0;
  uint64_t size = 0;
  /// Where the entry's local header begins.
  uint64_t offset = 0;
};

/// Reads the directory at the end of a ZIP file (APPNOTE 4.3.12 to 4.3.16, with ZIP64).
/// INVALID_ARGUMENT with the reason if the bytes are not a ZIP file, are cut off or empty, or have
/// a directory of more than `max_directory_bytes`.
Result<std::vector<ZipEntry>> ReadZipDirectory(const ByteSource& file,
                                               uint64_t max_directory_bytes);

/// Returns where the packed bytes of an entry begin: behind its local header. INVALID_ARGUMENT if
/// there is no such header.
Result<uint64_t> ZipDataOffset(const ByteSource& file, const ZipEntry& entry);

}  // namespace nereid::base
