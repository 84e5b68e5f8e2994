// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

namespace nereid::request {

/// Zeros that any number of tensors are views of. The pages that nobody writes are one page of
/// physical memory, whatever the size. Thread-safe.
class ZeroBlock {
 public:
  /// `size` or more bytes, aligned to a page; null when memory is short. The caller's share keeps
  /// them, also when the block has grown since.
  std::shared_ptr<const char> AtLeast(size_t size);

 private:
  std::mutex mutex_;
  std::shared_ptr<const char> block_;  // guarded by mutex_
  size_t size_ = 0;                    // guarded by mutex_
};

}  // namespace nereid::request
