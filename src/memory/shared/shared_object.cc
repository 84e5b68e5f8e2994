// SPDX-License-Identifier: Apache-2.0
#include "memory/shared/shared_object.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>
#include <utility>

namespace nereid::memory {
namespace {

using base::Status;

/// Returns the first part of a name that belongs to Triton's Python backend, or to a backend that
/// is made with it: "triton_<backend>_backend_shm_region_". Returns an empty text for other names.
std::string_view ReservedPrefix(std::string_view name) {
  constexpr std::string_view kBegin = "triton_", kEnd = "_backend_shm_region_";
  const size_t end = name.find(kEnd);
  if (!name.starts_with(kBegin) || end == std::string_view::npos) return {};
  return name.substr(0, end + kEnd.size());
}

/// Returns the name of the file below /dev/shm.
base::Result<std::string> FileName(std::string_view region, const std::string& key) {
  const std::string name = key.substr(std::min(key.find_first_not_of('/'), key.size()));
  const std::string of_region =
      "cannot register shared memory region '" + std::string(region) + "'";
  if (name.empty() || name == "." || name == ".." || name.size() > NAME_MAX ||
      name.find('/') != std::string::npos || name.find('\0') != std::string::npos) {
    return Status::InvalidArgument(of_region + " - invalid shm key '" + key + "'");
  }
  if (const std::string_view prefix = ReservedPrefix(name); !prefix.empty()) {
    return Status::InvalidArgument(of_region + " with key '" + key +
                                   "' as the key contains the reserved prefix '" +
                                   std::string(prefix) + "'");
  }
  return name;
}

bool IsRegularFile(int file) {
  struct stat status = {};
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

base::Result<SharedObject> SharedObject::Open(std::string_view region, const std::string& key) {
  NEREID_ASSIGN_OR_RETURN(const std::string name, FileName(region, key));
  // shm_open follows no link and sets FD_CLOEXEC. Without O_NONBLOCK, which it also sets, a FIFO in
  // the folder could hold the thread.
  SharedObject object(shm_open(("/" + name).c_str(), O_RDWR, 0));
  if (object.file_ < 0 || !IsRegularFile(object.file_)) {
    const int error = object.file_ < 0 ? errno : 0;
    std::string text = "Unable to open shared memory region: '" + key + "': ";
    text += error != 0 ? std::generic_category().message(error) : "it is no regular file";
    return error == ENOENT ? Status::NotFound(std::move(text))
                           : Status::InvalidArgument(std::move(text));
  }
  return object;
}

base::Result<SharedObject> SharedObject::Adopt(std::string_view region, int file) {
  SharedObject object(file);
  const auto refused = [&](const char* why) {
    return Status::InvalidArgument("cannot register shared memory region '" + std::string(region) +
                                   "' - the descriptor that came with the request " + why);
  };
  struct statfs system = {};
  if (!IsRegularFile(file) || fstatfs(file, &system) != 0 || system.f_type != TMPFS_MAGIC) {
    return refused("is no file in memory: send one of memfd_create or shm_open");
  }
  const int flags = fcntl(file, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) != O_RDWR || (flags & O_PATH) != 0) {
    return refused("is not open for reading and writing");
  }
  return object;
}

SharedObject::~SharedObject() {
  if (file_ >= 0) close(file_);
}

ObjectSize SharedObject::Size() const {
  struct stat status = {};
  if (fstat(file_, &status) != 0 || status.st_size < 0) return {};
  return {static_cast<uint64_t>(status.st_size), static_cast<uint64_t>(status.st_blocks) * 512};
}

}  // namespace nereid::memory
