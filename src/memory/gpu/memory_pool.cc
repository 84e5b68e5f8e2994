// SPDX-License-Identifier: Apache-2.0
#include "memory/gpu/memory_pool.h"

#include "device/context.h"
#include "device/cuda_driver.h"

namespace nereid::memory {

using base::Status;
using device::CudaDriver;
using device::ScopedDevice;

MemoryPool::~MemoryPool() {
  const base::MutexLock lock(mutex_);
  FreeBlock();
}

std::string MemoryPool::Name() const {
  return kind_ == Kind::kPinned ? "the pool of pinned memory"
                                : "the memory pool of GPU " + std::to_string(gpu_);
}

Status MemoryPool::TakeBlock() {
  NEREID_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Get());
  NEREID_ASSIGN_OR_RETURN(const ScopedDevice current, ScopedDevice::Enter(gpu_));
  const std::string what = "allocate " + Name() + " with " + std::to_string(bytes_) + " bytes";
  if (kind_ == Kind::kPinned) {
    void* block = nullptr;
    NEREID_RETURN_IF_ERROR(driver->ToStatus(
        driver->MemHostAlloc(&block, bytes_, device::kCudaHostAllocPortable), what));
    block_ = static_cast<char*>(block);
  } else {
    device::CuPointer block = 0;
    NEREID_RETURN_IF_ERROR(driver->ToStatus(driver->MemAlloc(&block, bytes_), what));
    block_ = reinterpret_cast<char*>(block);
  }
  ranges_.emplace(bytes_);
  return Status::Ok();
}

void MemoryPool::FreeBlock() {
  if (block_ == nullptr) return;
  const auto driver = CudaDriver::Get();
  const auto current = ScopedDevice::Enter(gpu_);
  if (driver.ok() && current.ok()) {
    if (kind_ == Kind::kPinned) {
      (*driver)->MemFreeHost(block_);
    } else {
      (*driver)->MemFree(reinterpret_cast<device::CuPointer>(block_));
    }
  }
  block_ = nullptr;
  ranges_.reset();
}

base::Result<char*> MemoryPool::Take(size_t size) {
  const base::MutexLock lock(mutex_);
  // A size that never fits must not cost a block.
  if (block_ == nullptr && size <= bytes_ && bytes_ != 0) NEREID_RETURN_IF_ERROR(TakeBlock());
  const auto begin = ranges_ ? ranges_->Take(size) : std::nullopt;
  if (begin) return block_ + *begin;
  const std::string flag = kind_ == Kind::kPinned
                               ? "--pinned-memory-pool-byte-size"
                               : "--cuda-memory-pool-byte-size=" + std::to_string(gpu_) + ":BYTES";
  return Status::Unavailable(Name() + " has no room for " + std::to_string(size) +
                             " bytes: " + std::to_string(ranges_ ? ranges_->used() : 0) +
                             " of its " + std::to_string(bytes_) + " bytes are in use. " + flag +
                             " makes it larger");
}

bool MemoryPool::Give(const void* data) {
  const base::MutexLock lock(mutex_);
  const auto* const bytes = static_cast<const char*>(data);
  if (block_ == nullptr || bytes < block_ || bytes >= block_ + bytes_) return false;
  return ranges_->Give(static_cast<uint64_t>(bytes - block_));
}

bool MemoryPool::has_memory() const {
  const base::MutexLock lock(mutex_);
  return block_ != nullptr;
}

PoolUse MemoryPool::use() const {
  const base::MutexLock lock(mutex_);
  return {bytes_, ranges_ ? ranges_->used() : 0};
}

void MemoryPool::Trim() {
  const base::MutexLock lock(mutex_);
  if (ranges_ && ranges_->used() == 0) FreeBlock();
}

}  // namespace nereid::memory
