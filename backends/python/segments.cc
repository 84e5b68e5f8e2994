// SPDX-License-Identifier: Apache-2.0
#include "python/segments.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "nereid/backend/log.h"

namespace nereid::python {

using backend::Error;

namespace {

/// A free segment is used only for messages of at least a quarter of its size.
constexpr uint64_t kMaxWaste = 4;

Error LimitReached(uint64_t size, uint64_t used, uint64_t limit) {
  return {TRITONSERVER_ERROR_UNAVAILABLE,
          "the tensors need " + std::to_string(size) +
              " bytes of shared memory, but the process of the model holds " +
              std::to_string(used) + " of its " + std::to_string(limit) +
              " bytes; set the model parameter 'shared_memory_limit_bytes', or let the model drop "
              "tensors that it keeps"};
}

}  // namespace

uint64_t SegmentSize(uint64_t size, uint64_t least) {
  if (size <= least) {
    return least;
  }
  if (size > uint64_t{1} << 62) {
    return 0;
  }
  const uint64_t step = std::bit_floor(size) / 8;
  return (size + step - 1) / step * step;
}

Error SegmentPool::Take(uint64_t size, TakenSegment* taken, int gpu) {
  const uint64_t least = gpu < 0 ? kLeastSegment : kLeastGpuSegment;
  const base::MutexLock lock(mutex_);
  if (const auto found = free_.lower_bound({gpu, size});
      found != free_.end() && found->first.first == gpu &&
      found->first.second / kMaxWaste <= std::max(size, least)) {
    Segment& segment = segments_.at(found->second);
    segment.in_use = true;
    taken->id = found->second;
    taken->memory = segment.memory;
    taken->announced = std::exchange(segment.announced, true);
    free_bytes_ -= found->first.second;
    free_.erase(found);
    return {};
  }
  const uint64_t rounded = SegmentSize(size, least);
  if (rounded == 0 || rounded > limit_ || total_bytes_ - free_bytes_ > limit_ - rounded) {
    return LimitReached(size, total_bytes_ - free_bytes_, limit_);
  }
  std::shared_ptr<SharedMemory> memory;
  NEREID_BACKEND_TRY(gpu < 0 ? SharedMemory::Create(rounded, &memory)
                             : SharedMemory::CreateOnGpu(gpu, rounded, &memory));
  if (next_id_ == kWorkerSegment) {
    return Error::Internal("the process of the model got too many segments; reload the model");
  }
  const uint32_t id = next_id_++;
  total_bytes_ += memory->size();
  segments_[id] = {memory, nullptr, true, true};
  taken->id = id;
  taken->memory = std::move(memory);
  taken->announced = false;
  return {};
}

bool SegmentPool::TakeBlock(std::shared_ptr<InputBlock> block, TakenSegment* taken) {
  const base::MutexLock lock(mutex_);
  const uint64_t size = block->size();
  const uint64_t used = total_bytes_ - free_bytes_;
  if (size > limit_ || used > limit_ - size || next_id_ >= kWorkerSegment - 2) {
    return false;
  }
  uint32_t& id = blocks_[block->offset()];
  if (id == 0) {
    id = next_id_++;
  }
  Segment& segment = segments_[id];
  if (segment.in_use) {
    return false;
  }
  const bool arena_announced = arena_ != 0;
  if (!arena_announced) {
    arena_ = next_id_++;
  }
  *taken = {id, nullptr, block, segment.announced, arena_, arena_announced};
  segment = {nullptr, std::move(block), true, true};
  total_bytes_ += size;
  return true;
}

void SegmentPool::Return(const TakenSegment& taken) {
  if (taken.announced) {
    Free(taken.id);
    return;
  }
  // Outlives the lock: its end gives it back to the arena.
  std::shared_ptr<InputBlock> block;
  const base::MutexLock lock(mutex_);
  const auto found = segments_.find(taken.id);
  if (found == segments_.end()) {
    return;
  }
  if (taken.block == nullptr) {
    total_bytes_ -= found->second.memory->size();
    segments_.erase(found);
    return;
  }
  block = std::move(found->second.block);
  found->second = {};
  total_bytes_ -= block->size();
  if (!taken.arena_announced) {
    arena_ = 0;
  }
}

bool SegmentPool::Free(uint32_t id) {
  // Outlives the lock: its end gives it back to the arena.
  std::shared_ptr<InputBlock> block;
  const base::MutexLock lock(mutex_);
  const auto found = segments_.find(id);
  if (found == segments_.end() || !found->second.in_use) {
    return false;
  }
  if (found->second.block != nullptr) {
    block = std::move(found->second.block);
    found->second.in_use = false;
    total_bytes_ -= block->size();
    return true;
  }
  const std::shared_ptr<SharedMemory> memory = found->second.memory;
  const uint64_t size = memory->size();
  if (free_bytes_ + size > kKept) {
    dropped_.push_back(id);
    has_dropped_ = true;
    segments_.erase(found);
    total_bytes_ -= size;
    return true;
  }
  found->second.in_use = false;
  free_bytes_ += size;
  free_.emplace(std::pair(memory->gpu(), size), id);
  return true;
}

SegmentMemory SegmentPool::Find(uint32_t id) {
  const base::MutexLock lock(mutex_);
  const auto found = segments_.find(id);
  if (found == segments_.end() || !found->second.in_use) {
    return {};
  }
  if (const std::shared_ptr<InputBlock>& block = found->second.block; block != nullptr) {
    return {block->data(), block->size(), -1, block, true};
  }
  const std::shared_ptr<SharedMemory>& memory = found->second.memory;
  return {memory->data(), memory->size(), memory->gpu(), memory, false};
}

std::vector<uint32_t> SegmentPool::TakeDropped() {
  const base::MutexLock lock(mutex_);
  has_dropped_ = false;
  return std::exchange(dropped_, {});
}

uint64_t SegmentPool::used_bytes() {
  const base::MutexLock lock(mutex_);
  return total_bytes_ - free_bytes_;
}

Error WorkerSegments::Announce(uint32_t id, uint64_t size, base::UniqueFd file, int gpu) {
  std::shared_ptr<SharedMemory> memory;
  if (size != 0 && gpu < 0) {
    NEREID_BACKEND_TRY(SharedMemory::Accept(std::move(file), size, &memory));
  } else if (size != 0) {
    if (const Error refused = SharedMemory::AcceptOnGpu(gpu, std::move(file), size, &memory);
        !refused.ok()) {
      NEREID_BACKEND_LOG(ERROR, "tensors of a Python model are refused: " + refused.message());
      size = 0;
    }
  }
  const base::MutexLock lock(mutex_);
  if (const auto found = segments_.find(id); found != segments_.end()) {
    total_bytes_ -= found->second->size();
    segments_.erase(found);
  }
  if (size == 0) {
    return {};
  }
  if ((id & kWorkerSegment) == 0 || segments_.size() >= kMaxSegments || size > limit_ ||
      total_bytes_ > limit_ - size) {
    return Error::InvalidArgument(
        "the process of the model passed more shared memory than the model parameter "
        "'shared_memory_limit_bytes' permits (" +
        std::to_string(limit_) + " bytes)");
  }
  total_bytes_ += size;
  segments_[id] = std::move(memory);
  return {};
}

SegmentMemory WorkerSegments::Find(uint32_t id) {
  const base::MutexLock lock(mutex_);
  const auto found = segments_.find(id);
  if (found == segments_.end()) {
    return {};
  }
  const std::shared_ptr<SharedMemory>& memory = found->second;
  return {memory->data(), memory->size(), memory->gpu(), memory, false};
}

void ReadSegments::Add(uint32_t id) {
  const base::MutexLock lock(mutex_);
  ids_.push_back(id);
}

std::vector<uint32_t> ReadSegments::Take() {
  const base::MutexLock lock(mutex_);
  return std::exchange(ids_, {});
}

bool ReadSegments::Lend(uint64_t size) {
  if (lent_.fetch_add(size) + size <= max_lent_) {
    return true;
  }
  lent_ -= size;
  return false;
}

}  // namespace nereid::python
