// SPDX-License-Identifier: Apache-2.0
#include "request/zero_block.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

namespace nereid::request {
namespace {

constexpr size_t kMinSize = size_t{64} << 10;
constexpr size_t kMaxSize = size_t{1} << 39;  // as memory::HostBuffer

std::shared_ptr<const char> Map(size_t size) {
  void* const memory =
      mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<const char*>(memory), [size](const char* zeros) {
            munmap(const_cast<char*>(zeros),
                   size);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
          }};
}

}  // namespace

std::shared_ptr<const char> ZeroBlock::AtLeast(size_t size) {
  base::MutexLock lock(mutex_);
  if (block_ != nullptr && size <= size_) return block_;
  if (size > kMaxSize) return nullptr;
  const size_t wanted = std::bit_ceil(std::max(size, kMinSize));
  std::shared_ptr<const char> grown = Map(wanted);
  if (grown == nullptr) return nullptr;
  block_ = std::move(grown);
  size_ = wanted;
  return block_;
}

}  // namespace nereid::request
