// SPDX-License-Identifier: Apache-2.0
#include "base/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nereid::base {
namespace {

class FileSource : public ByteSource {
 public:
  FileSource(int descriptor, uint64_t size) : descriptor_(descriptor), size_(size) {}
  ~FileSource() override { ::close(descriptor_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  uint64_t size() const override { return size_; }

  std::string Read(uint64_t offset, size_t count) const override {
    if (offset >= size_) return {};
    std::string bytes(static_cast<size_t>(std::min<uint64_t>(count, size_ - offset)), '\0');
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got = ::pread(descriptor_, bytes.data() + done, bytes.size() - done,
                                  static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<size_t>(got);
    }
    bytes.resize(done);
    return bytes;
  }

 private:
  const int descriptor_;
  const uint64_t size_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> OpenByteSource(const std::string& path) {
  // A pipe in the place of a file must not block.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return Status::NotFound(std::strerror(errno));
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return Status::NotFound("not a regular file");
  }
  return std::unique_ptr<ByteSource>(
      std::make_unique<FileSource>(descriptor, static_cast<uint64_t>(info.st_size)));
}

}  // namespace nereid::base
