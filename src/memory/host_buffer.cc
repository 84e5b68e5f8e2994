// SPDX-License-Identifier: Apache-2.0
#include "memory/host_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/mutex.h"

namespace nereid::memory {
namespace {

// Up to kMinPooled bytes malloc is as fast as a pool. Buffers above kMaxPooled are too
// rare and too large to keep.
constexpr size_t kMinPooled = size_t{64} << 10;  // exclusive
constexpr size_t kMaxPooled = size_t{64} << 20;
constexpr size_t kMaxPoolBytes = size_t{256} << 20;

// Half a terabyte. A larger size is a mistake or an attack, and must not reach mmap.
constexpr size_t kMaxBuffer = size_t{1} << 39;

/// Maps `size` bytes. Returns nullptr when memory or address space is exhausted.
char* MapPages(size_t size) {
  void* const data =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<char*>(data);
}

/// Unmaps pages in steps. The kernel needs milliseconds for 64 MiB, and between two system calls
/// another thread can have the CPU.
void UnmapPages(char* data, size_t size) {
  constexpr size_t kStep = size_t{4} << 20;
  for (size_t done = 0; done < size; done += kStep) {
    munmap(data + done, std::min(kStep, size - done));
  }
}

/// A pool of mapped blocks. Size classes are powers of two. The unused end of a block is never
/// touched, so it takes address space but no memory. Thread-safe.
class Pool {
 public:
  char* Take(size_t capacity) {
    {
      const base::MutexLock lock(mutex_);
      auto& list = free_[std::bit_width(capacity) - 1];
      if (!list.empty()) {
        char* data = list.back();
        list.pop_back();
        pooled_bytes_ -= capacity;
        return data;
      }
    }
    // System calls are made without the lock.
    return MapPages(capacity);
  }

  void Give(char* data, size_t capacity) {
    {
      const base::MutexLock lock(mutex_);
      if (pooled_bytes_ + capacity <= kMaxPoolBytes) {
        free_[std::bit_width(capacity) - 1].push_back(data);
        pooled_bytes_ += capacity;
        return;
      }
    }
    UnmapPages(data, capacity);
  }

  size_t pooled_bytes() {
    const base::MutexLock lock(mutex_);
    return pooled_bytes_;
  }

  void Trim() {
    const base::MutexLock lock(mutex_);
    for (size_t i = 0; i < free_.size(); ++i) {
      for (char* data : free_[i]) UnmapPages(data, size_t{1} << i);
      free_[i].clear();
    }
    pooled_bytes_ = 0;
  }

 private:
  base::Mutex mutex_;
  // Element i has the free blocks of 2^i bytes.
  std::array<std::vector<char*>, 64> free_ NEREID_GUARDED_BY(mutex_);
  size_t pooled_bytes_ NEREID_GUARDED_BY(mutex_) = 0;
};

Pool& ThePool() {
  // Never destroyed: buffers may be freed after static objects are destroyed.
  static Pool* const pool = new Pool();
  return *pool;
}

// From this size on, mremap moves the pages of a growing buffer. Copying the bytes would take
// longer than the page faults of new memory.
constexpr size_t kMinMoved = size_t{1} << 20;

bool IsPooled(size_t capacity) { return capacity > kMinPooled && capacity <= kMaxPooled; }

// Small blocks are aligned here: glibc's aligned_alloc does not use the free blocks of the thread,
// and takes four times as long as malloc. The byte before a block is its distance from the memory
// that malloc has returned.
static_assert(HostBuffer::kAlignment <= UINT8_MAX);

/// Returns `size` aligned bytes; null if there is no memory. `size` is at most kMinPooled.
char* AllocateSmall(size_t size) {
  auto* const memory = static_cast<char*>(std::malloc(size + HostBuffer::kAlignment));
  if (memory == nullptr) return nullptr;
  const auto distance = static_cast<uint8_t>(
      HostBuffer::kAlignment - reinterpret_cast<uintptr_t>(memory) % HostBuffer::kAlignment);
  char* const data = memory + distance;
  data[-1] = static_cast<char>(distance);
  return data;
}

void FreeSmall(char* data) { std::free(data - static_cast<uint8_t>(data[-1])); }

constexpr size_t kPage = 4096;

/// Rounds up to whole pages. `size` is at most kMaxBuffer, so the sum cannot overflow.
size_t WholePages(size_t size) { return (size + kPage - 1) / kPage * kPage; }

}  // namespace

HostBuffer HostBuffer::Allocate(size_t size) {
  HostBuffer buffer;
  buffer.size_ = size;
  if (size == 0) return buffer;
  if (IsPooled(size)) {
    buffer.capacity_ = std::bit_ceil(size);
    buffer.data_ = ThePool().Take(buffer.capacity_);
    return buffer;
  }
  if (size > kMaxBuffer) return buffer;
  if (size > kMaxPooled) {
    buffer.capacity_ = WholePages(size);
    buffer.data_ = MapPages(buffer.capacity_);
    return buffer;
  }
  buffer.capacity_ = size;
  buffer.data_ = AllocateSmall(size);
  return buffer;
}

HostBuffer HostBuffer::Borrow(char* data, size_t size, std::unique_ptr<BufferLender> lender) {
  HostBuffer buffer;
  buffer.data_ = data;
  buffer.size_ = buffer.capacity_ = size;
  buffer.lender_ = std::move(lender);
  return buffer;
}

bool HostBuffer::Grow(size_t size, size_t used) {
  if (data_ != nullptr && size <= capacity_) {
    size_ = size;
    return true;
  }
  if (lender_ == nullptr && data_ != nullptr && capacity_ >= kMinMoved && size <= kMaxBuffer) {
    // The new capacity must be one that Free() recognizes: a power of two if it goes to the pool,
    // whole pages otherwise.
    const size_t capacity = IsPooled(size) ? std::bit_ceil(size) : WholePages(size);
    void* const moved = mremap(data_, capacity_, capacity, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) return false;
    data_ = static_cast<char*>(moved);
    size_ = size;
    capacity_ = capacity;
    return true;
  }
  HostBuffer larger = Allocate(size);
  if (size != 0 && !larger) return false;
  if (used != 0) std::memcpy(larger.data_, data_, used);
  larger.share_ = std::move(share_);
  *this = std::move(larger);
  return true;
}

void HostBuffer::Free() {
  if (share_.size() != 0) share_ = {};
  if (data_ == nullptr) return;
  if (lender_ != nullptr) {
    lender_.reset();
  } else if (IsPooled(capacity_)) {
    ThePool().Give(data_, capacity_);
  } else if (capacity_ > kMaxPooled) {
    UnmapPages(data_, capacity_);
  } else {
    FreeSmall(data_);
  }
  data_ = nullptr;
  size_ = 0;
  capacity_ = 0;
}

size_t PooledHostBytes() { return ThePool().pooled_bytes(); }

void TrimHostPool() { ThePool().Trim(); }

}  // namespace nereid::memory
