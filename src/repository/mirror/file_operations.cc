// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/file_operations.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace nereid::repository::mirror {

using base::Status;

namespace {

class SystemOperations final : public FileOperations {
 public:
  Status MakeDirectory(const std::string& path) override {
    if (::mkdir(path.c_str(), 0700) == 0) return Status::Ok();
    const int error = errno;
    std::error_code ignored;
    if (error == EEXIST && std::filesystem::is_directory(path, ignored)) return Status::Ok();
    return FileFailure("make the directory", path, error);
  }

  base::Result<OpenFile> Create(const std::string& path) override {
    OpenFile file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.is_open()) return FileFailure("create", path, errno);
    return file;
  }

  Status Write(const OpenFile& file, const std::string& path, uint64_t offset,
               std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written =
          ::pwrite(file.descriptor(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return FileFailure("write", path, written == 0 ? ENOSPC : errno);
      bytes.remove_prefix(static_cast<size_t>(written));
      offset += static_cast<uint64_t>(written);
    }
    return Status::Ok();
  }

  Status Sync(const OpenFile& file, const std::string& path) override {
    if (::fsync(file.descriptor()) == 0) return Status::Ok();
    return FileFailure("write", path, errno);
  }

  Status Protect(const std::string& path) override {
    if (::chmod(path.c_str(), 0444) == 0) return Status::Ok();
    return FileFailure("change the permissions of", path, errno);
  }

  Status Rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) == 0) return Status::Ok();
    return FileFailure("rename a file to", to, errno);
  }

  Status Link(const std::string& from, const std::string& to) override {
    if (::link(from.c_str(), to.c_str()) == 0) return Status::Ok();
    const int error = errno;
    const Status failure = FileFailure("link", to, error);
    switch (error) {
      case EMLINK:
      case EPERM:
      case EXDEV:
      case ENOSYS:
      case EOPNOTSUPP:
        return Status::Unsupported(failure.message());
      case ENOENT:
        return Status::NotFound(failure.message());
      default:
        return failure;
    }
  }

  Status Remove(const std::string& path) override {
    if (::unlink(path.c_str()) == 0 || errno == ENOENT) return Status::Ok();
    return FileFailure("delete", path, errno);
  }

  Status RemoveTree(const std::string& path) override {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    return error ? FileFailure("delete", path, error.value()) : Status::Ok();
  }

  void MarkUsed(const std::string& path) override {
    const timespec times[] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
    (void)::utimensat(AT_FDCWD, path.c_str(), times, 0);  // without it the blob is deleted earlier
  }
};

std::string Advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "; free space there, lower --model-cache-size, or choose another directory with "
             "--model-cache-directory";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; give the server's user write permission there, or choose another directory with "
             "--model-cache-directory";
    default:
      return "";
  }
}

}  // namespace

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileOperations& SystemFileOperations() {
  static SystemOperations operations;
  return operations;
}

Status FileFailure(const std::string& action, const std::string& path, int error) {
  return Status::Internal("failed to " + action + " '" + path +
                          "': " + std::generic_category().message(error) + Advice(error));
}

}  // namespace nereid::repository::mirror
