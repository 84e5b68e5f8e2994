// SPDX-License-Identifier: Apache-2.0
#include "app/tools/init/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace nereid::app::tools {

base::Result<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path) {
  const auto failure = [&](const char* reason) {
    return base::Status::NotFound("failed to read " + path + ": " + reason);
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return failure(std::strerror(errno));
  struct stat info {};
  const bool regular = ::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
  const auto size = static_cast<size_t>(regular ? info.st_size : 0);
  void* data = nullptr;
  if (size > 0) data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int error = errno;
  ::close(descriptor);
  if (!regular) return failure("not a regular file");
  if (data == MAP_FAILED) return failure(std::strerror(error));
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const char*>(data), size));
}

MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace nereid::app::tools
