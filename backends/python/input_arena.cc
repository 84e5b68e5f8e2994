// SPDX-License-Identifier: Apache-2.0
#include "python/input_arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace nereid::python {
namespace {

using backend::Error;

constexpr uint64_t kPage = 4096;
/// Memory is reserved in steps: as much as there is already, between these bounds.
constexpr uint64_t kMinStep = uint64_t{64} << 10;
constexpr uint64_t kMaxStep = uint64_t{2} << 20;

Error NotProvided(const char* what, int reason) {
  return {
      TRITONSERVER_ERROR_UNAVAILABLE,
      std::string("the system does not provide shared memory for the inputs of a Python model: ") +
          what + ": " + std::strerror(reason)};
}

/// A file above the limit would end the process by a signal.
bool MayBeLarge(uint64_t size) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size);
}

/// Returns the index of the list for blocks of this size.
size_t ClassOf(uint64_t capacity) {
  return static_cast<size_t>(std::countr_zero(capacity / InputArena::kMinBlock));
}

}  // namespace

InputBlock::~InputBlock() { arena_->Give(offset_, capacity_, ready_); }

char* InputBlock::data() const { return arena_->data_ + offset_; }

size_t InputBlock::Prepare(uint64_t begin, uint64_t end) {
  end = std::min(end, capacity_);
  if (begin >= end) {
    return 0;
  }
  if (end > ready_) {
    const uint64_t wanted = ready_ + std::clamp(ready_, kMinStep, kMaxStep);
    const uint64_t last = (std::min(end, std::max(wanted, begin + 1)) + kPage - 1) / kPage * kPage;
    // A write to a page that the system cannot provide would end the server.
    if (posix_fallocate(arena_->file(), static_cast<off_t>(offset_ + ready_),
                        static_cast<off_t>(last - ready_)) == 0) {
      ready_ = last;
    }
  }
  return begin < ready_ ? std::min(end, ready_) - begin : 0;
}

Error InputArena::Create(std::shared_ptr<InputArena>* arena) {
  if (!MayBeLarge(kSize)) {
    return NotProvided("the limit of the size of files", EFBIG);
  }
  base::UniqueFd file(memfd_create("nereid_python_inputs", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.ok()) {
    return NotProvided("memfd_create", errno);
  }
  if (ftruncate(file.get(), static_cast<off_t>(kSize)) != 0) {
    return NotProvided("ftruncate", errno);
  }
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return NotProvided("F_ADD_SEALS", errno);
  }
  void* data =
      mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (data == MAP_FAILED) {
    return NotProvided("mmap", errno);
  }
  // Requests belong into no core dump, and 4 GiB of holes neither.
  madvise(data, kSize, MADV_DONTDUMP);
  arena->reset(new InputArena(std::move(file), static_cast<char*>(data)));
  return {};
}

InputArena::~InputArena() { munmap(data_, kSize); }

std::shared_ptr<InputBlock> InputArena::Take(uint64_t size) {
  if (size == 0 || size > kMaxBlock) {
    return nullptr;
  }
  const uint64_t capacity = std::max(std::bit_ceil(size), kMinBlock);
  const size_t index = ClassOf(capacity);
  const base::MutexLock lock(mutex_);
  std::vector<FreeBlock>& free = free_[index];
  FreeBlock place;
  if (!free.empty()) {
    place = free.back();
  } else if (capacity <= kSize - end_) {
    place.offset = end_;
    free.reserve(made_[index] + 1);
  } else {
    return nullptr;
  }
  // Before the block exists: without memory for it, nothing has changed. An expired entry stays
  // until its place is used again.
  std::weak_ptr<InputBlock>& used = used_[place.offset];
  auto block =
      std::make_shared<InputBlock>(shared_from_this(), place.offset, capacity, place.ready);
  if (!free.empty()) {
    free.pop_back();
    kept_ -= place.ready;
  } else {
    end_ += capacity;
    ++made_[index];
  }
  used = block;
  return block;
}

std::shared_ptr<InputBlock> InputArena::Find(const char* data, uint64_t size) {
  const auto at = reinterpret_cast<uintptr_t>(data);
  const auto begin = reinterpret_cast<uintptr_t>(data_);
  if (at < begin || at - begin >= kSize) {
    return nullptr;
  }
  const uint64_t offset = at - begin;
  // Outlives the lock: it may be the last reference.
  std::shared_ptr<InputBlock> block;
  const base::MutexLock lock(mutex_);
  auto found = used_.upper_bound(offset);
  if (found == used_.begin()) {
    return nullptr;
  }
  --found;
  block = found->second.lock();
  const bool inside = block != nullptr && offset - block->offset() <= block->size() &&
                      size <= block->size() - (offset - block->offset());
  return inside ? std::move(block) : nullptr;
}

bool InputArena::TakeKept(size_t other_than, uint64_t least, size_t* its_class, FreeBlock* block) {
  for (size_t i = kClasses; i-- > 0;) {
    std::vector<FreeBlock>& free = free_[i];
    const auto found = std::find_if(free.begin(), free.end(),
                                    [least](const FreeBlock& one) { return one.ready >= least; });
    if (i == other_than || found == free.end()) {
      continue;
    }
    *its_class = i;
    *block = *found;
    kept_ -= found->ready;
    free.erase(found);
    return true;
  }
  return false;
}

void InputArena::Give(uint64_t offset, uint64_t capacity, uint64_t ready) {
  const size_t index = ClassOf(capacity);
  FreeBlock trimmed{offset, ready};
  size_t trimmed_class = index;
  {
    const base::MutexLock lock(mutex_);
    const bool is_room = kept_ + ready <= kMaxKept;
    // The sizes of inputs that came last are likely to come again.
    if (is_room || TakeKept(index, ready, &trimmed_class, &trimmed)) {
      free_[index].push_back({offset, ready});
      kept_ += ready;
    }
    if (is_room) {
      return;
    }
  }
  // Without the lock: nobody else knows the block.
  if (fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(trimmed.offset), static_cast<off_t>(trimmed.ready)) == 0) {
    trimmed.ready = 0;
  }
  const base::MutexLock lock(mutex_);
  free_[trimmed_class].push_back(trimmed);
  kept_ += trimmed.ready;
}

uint64_t InputArena::kept_bytes() {
  const base::MutexLock lock(mutex_);
  return kept_;
}

}  // namespace nereid::python
