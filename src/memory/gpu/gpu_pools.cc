// SPDX-License-Identifier: Apache-2.0
#include "memory/gpu/gpu_pools.h"

#include <string>
#include <utility>

#include "base/log.h"
#include "device/cuda_driver.h"

namespace nereid::memory {
namespace {

using base::Status;

bool SameSizes(const GpuMemorySettings& a, const GpuMemorySettings& b) {
  return a.pinned_pool_bytes == b.pinned_pool_bytes && a.pool_bytes == b.pool_bytes;
}

/// Returns INVALID_ARGUMENT unless the GPU exists.
Status CheckGpu(int64_t gpu) {
  NEREID_ASSIGN_OR_RETURN(const device::CudaDriver* driver, device::CudaDriver::Get());
  int count = 0;
  NEREID_RETURN_IF_ERROR(driver->ToStatus(driver->DeviceGetCount(&count), "count the GPUs"));
  if (gpu >= 0 && gpu < count) return Status::Ok();
  return Status::InvalidArgument("there is no GPU " + std::to_string(gpu) +
                                 ": this machine has GPUs 0 to " + std::to_string(count - 1));
}

}  // namespace

GpuPools& GpuPools::Get() {
  // Never destroyed: memory may be given back after static objects are destroyed.
  static auto* const pools = new GpuPools;
  return *pools;
}

bool GpuPools::HasDriver() { return device::CudaDriver::Get().ok(); }

void GpuPools::Configure(GpuMemorySettings settings) {
  const base::MutexLock lock(mutex_);
  bool in_use = pinned_ != nullptr && pinned_->has_memory();
  for (const auto& [gpu, pool] : pools_) in_use = in_use || pool->has_memory();
  if (in_use) {
    if (!SameSizes(settings, settings_)) {
      LOG_WARNING << "the memory pools of the GPUs keep the sizes of the first server of this "
                     "process; --pinned-memory-pool-byte-size and --cuda-memory-pool-byte-size "
                     "of this one have no effect";
    }
    return;
  }
  settings_ = std::move(settings);
  pinned_.reset();
  pools_.clear();
}

GpuMemorySettings GpuPools::settings() const {
  const base::MutexLock lock(mutex_);
  return settings_;
}

base::Result<std::shared_ptr<MemoryPool>> GpuPools::PoolOf(int64_t gpu) {
  {
    const base::MutexLock lock(mutex_);
    const auto found = pools_.find(static_cast<int>(gpu));
    if (found != pools_.end()) return found->second;
  }
  NEREID_RETURN_IF_ERROR(CheckGpu(gpu));
  const base::MutexLock lock(mutex_);
  const int ordinal = static_cast<int>(gpu);
  std::shared_ptr<MemoryPool>& pool = pools_[ordinal];
  if (pool == nullptr) {
    const auto listed = settings_.pool_bytes.find(ordinal);
    pool = std::make_shared<MemoryPool>(
        MemoryPool::Kind::kGpu, ordinal,
        listed == settings_.pool_bytes.end() ? GpuMemorySettings::kPoolBytes : listed->second);
  }
  return pool;
}

std::shared_ptr<MemoryPool> GpuPools::PinnedPool() {
  const base::MutexLock lock(mutex_);
  if (pinned_ == nullptr) {
    pinned_ =
        std::make_shared<MemoryPool>(MemoryPool::Kind::kPinned, 0, settings_.pinned_pool_bytes);
  }
  return pinned_;
}

base::Result<char*> GpuPools::TakeGpu(int64_t gpu, size_t size) {
  NEREID_ASSIGN_OR_RETURN(const std::shared_ptr<MemoryPool> pool, PoolOf(gpu));
  return pool->Take(size);
}

bool GpuPools::GiveGpu(int64_t gpu, const void* data) {
  std::shared_ptr<MemoryPool> pool;
  {
    const base::MutexLock lock(mutex_);
    const auto found = pools_.find(static_cast<int>(gpu));
    if (found == pools_.end()) return false;
    pool = found->second;
  }
  return pool->Give(data);
}

base::Result<char*> GpuPools::TakePinned(size_t size) {
  NEREID_RETURN_IF_ERROR(device::CudaDriver::Get().status());
  return PinnedPool()->Take(size);
}

bool GpuPools::GivePinned(const void* data) { return PinnedPool()->Give(data); }

PoolUse GpuPools::PinnedUse() {
  if (!HasDriver()) return {};
  return PinnedPool()->use();
}

std::map<int, PoolUse> GpuPools::GpuUses() const {
  std::map<int, PoolUse> uses;
  const base::MutexLock lock(mutex_);
  for (const auto& [gpu, pool] : pools_) uses.emplace(gpu, pool->use());
  return uses;
}

void GpuPools::Trim() {
  const base::MutexLock lock(mutex_);
  if (pinned_ != nullptr) pinned_->Trim();
  for (const auto& [gpu, pool] : pools_) pool->Trim();
}

}  // namespace nereid::memory
