// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "base/mutex.h"

namespace nereid::request {

/// Zeros that any number of tensors may refer to. The memory is mapped read-only and never written,
/// so all its pages are one physical page. Thread-safe.
class ZeroBlock {
 public:
  /// Returns `size` or more zero bytes, aligned to a page; null when memory is short. The returned
  /// pointer keeps the bytes alive, also after a later call has replaced the block by a larger one.
  std::shared_ptr<const char> AtLeast(size_t size);

 private:
  base::Mutex mutex_;
  std::shared_ptr<const char> block_ NEREID_GUARDED_BY(mutex_);
  size_t size_ NEREID_GUARDED_BY(mutex_) = 0;  // of block_
};

}  // namespace nereid::request
