// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace nereid::memory {

/// A shared-memory object of a test, as a client creates it. Aborts the test program if there is no
/// shared memory.
class TemporaryObject {
 public:
  explicit TemporaryObject(uint64_t size) : key_(NextKey()) {
    file_ = shm_open(key_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file_ < 0) std::abort();
    Resize(size);
  }
  TemporaryObject(const TemporaryObject&) = delete;
  TemporaryObject& operator=(const TemporaryObject&) = delete;
  ~TemporaryObject() {
    Unlink();
    close(file_);
  }

  const std::string& key() const { return key_; }
  void Resize(uint64_t size) {
    if (ftruncate(file_, static_cast<off_t>(size)) != 0) std::abort();
  }
  void Write(uint64_t offset, std::string_view bytes) {
    const auto at = static_cast<off_t>(offset);
    if (pwrite(file_, bytes.data(), bytes.size(), at) != ssize_t(bytes.size())) std::abort();
  }
  std::string Read(uint64_t offset, size_t size) const {
    std::string bytes(size, '\0');
    const ssize_t count = pread(file_, bytes.data(), size, static_cast<off_t>(offset));
    bytes.resize(count < 0 ? 0 : static_cast<size_t>(count));
    return bytes;
  }
  /// Takes the name away; the memory stays.
  void Unlink() { shm_unlink(key_.c_str()); }

 private:
  static std::string NextKey() {
    static std::atomic<int> count{0};
    return "/nereid_test_" + std::to_string(getpid()) + "_" + std::to_string(count++);
  }

  const std::string key_;
  int file_ = -1;
};

}  // namespace nereid::memory
