// SPDX-License-Identifier: Apache-2.0
#include "memory/shared/cuda_regions.h"

#include <exception>
#include <utility>

#include "base/byte_budget.h"

namespace nereid::memory {
namespace {

using base::Status;

constexpr size_t kMaxNameSize = 1024;

/// Deletes a mapping when its last user is gone, on a thread that may wait for the driver.
struct Close {
  std::shared_ptr<base::BlockingWorkers> elsewhere;

  void operator()(const CudaMapping* mapping) const noexcept {
    if (!base::ThreadMayBlock()) {
      try {
        if (elsewhere->Run([mapping] { delete mapping; })) return;
      } catch (const std::exception&) {
        // There is no memory for handing it over: it is deleted here.
      }
    }
    delete mapping;
  }
};

}  // namespace

CudaRegions::CudaRegions(size_t max_regions)
    : max_regions_(max_regions),
      closing_(std::make_shared<base::BlockingWorkers>("cuda-unmap", 1)) {}

Status CudaRegions::CheckRoom(const std::string& name) const {
  if (regions_.contains(name)) {
    return Status::AlreadyExists("shared memory region '" + name + "' already in manager");
  }
  if (regions_.size() < max_regions_) return Status::Ok();
  return Status::Unavailable("cannot register CUDA shared memory region '" + name +
                             "': there are " + std::to_string(max_regions_) +
                             " regions, which is the maximum. Unregister some first");
}

// The handle is opened without the lock, because that waits for the driver.
Status CudaRegions::Register(CudaRegion region) {
  if (region.name.size() > kMaxNameSize) {
    return Status::InvalidArgument("the name of a shared memory region can have at most " +
                                   std::to_string(kMaxNameSize) + " bytes");
  }
  {
    const base::MutexLock lock(mutex_);
    NEREID_RETURN_IF_ERROR(CheckRoom(region.name));
  }
  NEREID_ASSIGN_OR_RETURN(CudaMapping opened, CudaMapping::Open(std::move(region)));
  const Mapping mapping(new CudaMapping(std::move(opened)), Close{closing_});
  const base::MutexLock lock(mutex_);
  NEREID_RETURN_IF_ERROR(CheckRoom(mapping->region().name));
  regions_.emplace(mapping->region().name, mapping);
  return Status::Ok();
}

void CudaRegions::Unregister(const std::string& name) {
  Mapping forgotten;  // closed after the lock is released
  const base::MutexLock lock(mutex_);
  const auto found = regions_.find(name);
  if (found == regions_.end()) return;
  forgotten = std::move(found->second);
  regions_.erase(found);
}

void CudaRegions::UnregisterAll() {
  std::map<std::string, Mapping, std::less<>> forgotten;
  const base::MutexLock lock(mutex_);
  forgotten.swap(regions_);
}

std::vector<CudaRegion> CudaRegions::List() const {
  std::vector<CudaRegion> list;
  const base::MutexLock lock(mutex_);
  for (const auto& [name, mapping] : regions_) {
    list.push_back({name, {}, mapping->region().device_id, mapping->region().byte_size});
  }
  return list;
}

CudaRegions::Mapping CudaRegions::Find(std::string_view name) const {
  const base::MutexLock lock(mutex_);
  const auto found = regions_.find(name);
  return found == regions_.end() ? nullptr : found->second;
}

}  // namespace nereid::memory
