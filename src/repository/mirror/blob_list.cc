// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/blob_list.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/checked_math.h"
#include "base/files.h"
#include "repository/mirror/digest.h"

namespace nereid::repository::mirror {

using base::Status;

namespace {

constexpr size_t kCopyBytes = 1 << 20;

uint64_t Sum(uint64_t a, uint64_t b) {
  return base::CheckedAdd<uint64_t>(a, b).value_or(UINT64_MAX);
}

}  // namespace

base::Result<std::vector<std::string>> ListEntries(const std::string& directory) {
  std::vector<std::string> paths;
  NEREID_ASSIGN_OR_RETURN(const auto parts, base::ListSubdirectories(directory));
  for (const std::string& part : parts) {
    const auto names = base::ListDirectory(directory + "/" + part);
    if (!names.ok()) continue;  // another process may have deleted it
    for (const std::string& name : *names) {
      if (IsSha256Text(name)) paths.push_back(directory + "/" + part + "/" + name);
    }
  }
  return paths;
}

base::Result<std::vector<Blob>> ListBlobs(const std::string& directory) {
  NEREID_ASSIGN_OR_RETURN(const auto paths, ListEntries(directory));
  std::vector<Blob> blobs;
  for (const std::string& path : paths) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    blobs.push_back({path, static_cast<uint64_t>(info.st_size),
                     int64_t{info.st_atim.tv_sec} * 1'000'000'000 + info.st_atim.tv_nsec,
                     info.st_nlink > 1});
  }
  return blobs;
}

std::vector<Blob> BlobsToDelete(std::vector<Blob> blobs, uint64_t max_bytes, uint64_t incoming) {
  if (max_bytes == 0) return {};
  uint64_t total = incoming;
  for (const Blob& blob : blobs) total = Sum(total, blob.size);
  std::erase_if(blobs, [](const Blob& blob) { return blob.is_in_use; });
  std::sort(blobs.begin(), blobs.end(), [](const Blob& a, const Blob& b) {
    return a.used_ns != b.used_ns ? a.used_ns < b.used_ns : a.path < b.path;
  });
  size_t count = 0;
  while (count < blobs.size() && total > max_bytes) total -= blobs[count++].size;
  blobs.resize(count);
  return blobs;
}

Status CopyFile(const std::string& from, const std::string& to, FileOperations& files) {
  const OpenFile source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source.is_open()) {
    const Status failure = FileFailure("read", from, errno);
    return errno == ENOENT ? Status::NotFound(failure.message()) : failure;
  }
  NEREID_ASSIGN_OR_RETURN(const OpenFile target, files.Create(to));
  std::vector<char> buffer(kCopyBytes);
  uint64_t offset = 0;
  while (true) {
    const ssize_t size = ::read(source.descriptor(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return FileFailure("read", from, errno);
    if (size == 0) break;
    NEREID_RETURN_IF_ERROR(
        files.Write(target, to, offset, {buffer.data(), static_cast<size_t>(size)}));
    offset += static_cast<uint64_t>(size);
  }
  return files.Protect(to);
}

}  // namespace nereid::repository::mirror
