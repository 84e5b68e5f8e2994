// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/cache_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/log.h"

namespace nereid::repository::mirror {

using base::Status;

namespace {

constexpr std::string_view kLockSuffix = ".lock";

std::string NewOwnerName() {
  // The process id alone is not enough: containers that share a cache have equal ones.
  std::random_device random;
  return std::to_string(::getpid()) + "-" + std::to_string(random()) + std::to_string(random());
}

/// Opens a file and locks it. UNAVAILABLE if another holder has the lock and `wait` is false.
base::Result<OpenFile> OpenLocked(const std::string& path, bool wait) {
  OpenFile file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return FileFailure("open", path, errno);
  while (::flock(file.descriptor(), LOCK_EX | (wait ? 0 : LOCK_NB)) != 0) {
    if (errno == EINTR) continue;
    const Status failure = FileFailure("lock", path, errno);
    return errno == EWOULDBLOCK ? Status::Unavailable(failure.message()) : failure;
  }
  return file;
}

/// Returns the path of an entry below a directory of 256 directories.
std::string SpreadPath(const std::string& directory, const std::string& name) {
  return directory + "/" + name.substr(0, 2) + "/" + name;
}

}  // namespace

CacheDirectory::CacheDirectory(std::string root, FileOperations& files)
    : root_(std::move(root)), files_(files) {}

base::Result<std::shared_ptr<CacheDirectory>> CacheDirectory::Open(const std::string& root,
                                                                   FileOperations& files) {
  std::shared_ptr<CacheDirectory> cache(new CacheDirectory(root, files));
  NEREID_RETURN_IF_ERROR(cache->MakeDirectories());
  NEREID_ASSIGN_OR_RETURN(const FileLock lock, cache->Lock());
  NEREID_RETURN_IF_ERROR(cache->RemoveDead());
  NEREID_RETURN_IF_ERROR(cache->BecomeOwner());
  return cache;
}

CacheDirectory::~CacheDirectory() {
  if (owner_.empty()) return;
  Status removed = files_.RemoveTree(owner_);
  // The lock's file goes last: as long as it exists, another process completes the deletion.
  if (removed.ok()) removed = files_.Remove(owner_ + std::string(kLockSuffix));
  if (!removed.ok()) LOG_WARNING << removed.message();
}

Status CacheDirectory::MakeDirectories() {
  NEREID_RETURN_IF_ERROR(files_.MakeDirectory(root_));
  for (const char* name : {"/blobs", "/index", "/owners"}) {
    NEREID_RETURN_IF_ERROR(files_.MakeDirectory(root_ + name));
  }
  return Status::Ok();
}

base::Result<FileLock> CacheDirectory::Lock() const {
  NEREID_ASSIGN_OR_RETURN(OpenFile file, OpenLocked(root_ + "/lock", /*wait=*/true));
  return FileLock(std::move(file));
}

Status CacheDirectory::BecomeOwner() {
  const std::string owner = root_ + "/owners/" + NewOwnerName();
  NEREID_ASSIGN_OR_RETURN(owner_lock_, OpenLocked(owner + std::string(kLockSuffix), false));
  owner_ = owner;
  return files_.MakeDirectory(owner_);
}

Status CacheDirectory::RemoveDead() {
  const std::string owners = root_ + "/owners";
  NEREID_ASSIGN_OR_RETURN(const std::vector<std::string> names, base::ListDirectory(owners));
  for (const std::string& name : names) {
    if (!name.ends_with(kLockSuffix)) continue;
    const std::string lock_path = owners + "/" + name;
    const auto lock = OpenLocked(lock_path, /*wait=*/false);
    if (!lock.ok()) continue;  // its process lives, or the file belongs to another user
    NEREID_RETURN_IF_ERROR(
        files_.RemoveTree(lock_path.substr(0, lock_path.size() - kLockSuffix.size())));
    NEREID_RETURN_IF_ERROR(files_.Remove(lock_path));
  }
  return Status::Ok();
}

std::string CacheDirectory::BlobPath(const std::string& sha256) const {
  return SpreadPath(blobs(), sha256);
}

std::string CacheDirectory::IndexPath(const std::string& sha256) const {
  return SpreadPath(index(), sha256);
}

std::string CacheDirectory::NewPath() { return owner_ + "/" + std::to_string(next_++); }

base::Result<std::unique_ptr<Checkout>> Checkout::Create(std::shared_ptr<CacheDirectory> cache) {
  std::string path = cache->NewPath();
  NEREID_RETURN_IF_ERROR(cache->files().MakeDirectory(path));
  return std::unique_ptr<Checkout>(new Checkout(std::move(cache), std::move(path)));
}

Checkout::~Checkout() {
  const Status removed = cache_->files().RemoveTree(path_);
  if (!removed.ok()) LOG_WARNING << removed.message();
}

}  // namespace nereid::repository::mirror
