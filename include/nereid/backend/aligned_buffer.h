// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace nereid::backend {

/// Scratch memory that an instance keeps between executions. Aligned for vector instructions. Not
/// thread-safe.
class AlignedBuffer {
 public:
  static constexpr size_t kAlignment = 64;
  /// Trim() frees a buffer above this size in bytes, so that one huge request does not keep its
  /// memory forever.
  static constexpr size_t kKept = size_t{64} << 20;

  /// Returns at least `size` bytes of memory with undefined content; never null. Valid until the
  /// next call of Reserve() or Trim(). Throws std::bad_alloc.
  char* Reserve(size_t size) {
    if (size > capacity_ || memory_ == nullptr) {
      size_t wanted = capacity_ < kKept / 2 ? capacity_ * 2 : 0;
      wanted = size > wanted ? size : wanted;
      if (wanted > SIZE_MAX - 2 * kAlignment) {
        throw std::bad_alloc();
      }
      wanted = (wanted + kAlignment) / kAlignment * kAlignment;
      memory_.reset();
      capacity_ = 0;
      memory_.reset(static_cast<char*>(std::aligned_alloc(kAlignment, wanted)));
      if (memory_ == nullptr) {
        throw std::bad_alloc();
      }
      capacity_ = wanted;
    }
    return memory_.get();
  }

  /// Frees the memory if it is larger than kKept.
  void Trim() {
    if (capacity_ > kKept) {
      memory_.reset();
      capacity_ = 0;
    }
  }

  size_t capacity() const { return capacity_; }

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> memory_;
  size_t capacity_ = 0;
};

}  // namespace nereid::backend
