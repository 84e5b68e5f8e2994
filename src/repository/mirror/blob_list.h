// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "base/result.h"
#include "repository/mirror/file_operations.h"

namespace nereid::repository::mirror {

/// A content in the directory of a cache.
struct Blob {
  std::string path;
  uint64_t size = 0;
  int64_t used_ns = 0;     // when it was last used, since the Unix epoch
  bool is_in_use = false;  // a checkout has a link to it
};

/// Returns the paths of the files in a directory of directories whose names are SHA-256 texts.
base::Result<std::vector<std::string>> ListEntries(const std::string& directory);

/// Returns the blobs below a directory, in no particular order.
base::Result<std::vector<Blob>> ListBlobs(const std::string& directory);

/// Returns the blobs to delete so that `incoming` more bytes fit into `max_bytes` (0: unlimited):
/// those that are not in use, the ones whose use is the longest ago first, and no more than needed.
std::vector<Blob> BlobsToDelete(std::vector<Blob> blobs, uint64_t max_bytes, uint64_t incoming);

/// Copies a file to a path where no file is. The copy cannot be written to. NOT_FOUND if there is
/// no file `from`.
base::Status CopyFile(const std::string& from, const std::string& to, FileOperations& files);

}  // namespace nereid::repository::mirror
