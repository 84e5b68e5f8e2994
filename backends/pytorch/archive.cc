// SPDX-License-Identifier: Apache-2.0
#include "pytorch/archive.h"

#include <algorithm>

#include "base/byte_source.h"
#include "base/zip_directory.h"

namespace nereid::pytorch {
namespace {

/// The largest list of records that is read; no model has a larger one.
constexpr uint64_t kLargestList = uint64_t{512} << 20;

}  // namespace

Error CheckArchive(const std::string& path, ArchiveSizes* sizes) {
  const auto file = base::OpenByteSource(path);
  if (!file.ok() || (*file)->size() == 0) {
    return Error::InvalidArgument("the file is empty or cannot be read");
  }
  sizes->file = (*file)->size();
  const auto records = base::ReadZipDirectory(**file, kLargestList);
  if (!records.ok()) {
    return Error::InvalidArgument(records.status().message() +
                                  "; torch.jit.save writes ZIP archives");
  }
  for (const base::ZipEntry& record : *records) {
    sizes->records += 1;
    sizes->unpacked += std::min(record.size, UINT64_MAX - sizes->unpacked);
  }
  if (sizes->unpacked > sizes->file + kMaxUnpacked) {
    return Error::InvalidArgument("its " + std::to_string(sizes->file) + " bytes would unpack to " +
                                  std::to_string(sizes->unpacked) + ", more than any model");
  }
  return {};
}

}  // namespace nereid::pytorch
