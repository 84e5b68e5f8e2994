// SPDX-License-Identifier: Apache-2.0
#include "memory/shared/shared_regions.h"

#include <chrono>
#include <exception>
#include <utility>

namespace nereid::memory {
namespace {

using base::Status;

/// The longest name and the longest key.
constexpr size_t kMaxNameSize = 1024;
/// Regions up to this size are unmapped by any thread, in half a millisecond at most.
constexpr uint64_t kUnmappedAnywhere = uint64_t{64} << 20;

/// Deletes a mapping when its last user is gone.
struct Unmap {
  std::shared_ptr<base::BlockingWorkers> elsewhere;

  void operator()(const SharedMapping* mapping) const noexcept {
    if (mapping->region().byte_size > kUnmappedAnywhere && !base::ThreadMayBlock()) {
      try {
        if (elsewhere->Run([mapping] { delete mapping; })) return;
      } catch (const std::exception&) {
        // There is no memory for handing it over: it is deleted here.
      }
    }
    delete mapping;
  }
};

Status CheckNames(const SharedRegion& region) {
  if (region.name.size() <= kMaxNameSize && region.key.size() <= kMaxNameSize) return Status::Ok();
  return Status::InvalidArgument(
      "the name and the key of a shared memory region can have at most " +
      std::to_string(kMaxNameSize) + " bytes");
}

}  // namespace

SharedRegions::SharedRegions(const SharedRegionLimits& limits)
    : max_regions_(limits.regions),
      bytes_(std::make_shared<base::ByteBudget>(limits.bytes, std::chrono::milliseconds(0))),
      unmapping_(std::make_shared<base::BlockingWorkers>("shm-unmap", 1)) {}

Status SharedRegions::CheckRoom(const std::string& name) const {
  if (regions_.contains(name)) {
    return Status::AlreadyExists("shared memory region '" + name + "' already in manager");
  }
  if (regions_.size() < max_regions_) return Status::Ok();
  return Status::Unavailable("cannot register shared memory region '" + name + "': there are " +
                             std::to_string(max_regions_) +
                             " regions, which is the maximum. Unregister some first");
}

Status SharedRegions::CheckNew(const SharedRegion& region) const {
  NEREID_RETURN_IF_ERROR(CheckNames(region));
  const base::MutexLock lock(mutex_);
  return CheckRoom(region.name);
}

// The object is opened and mapped without the lock, because that takes system calls.
Status SharedRegions::Register(SharedRegion region) {
  NEREID_RETURN_IF_ERROR(CheckNew(region));
  NEREID_ASSIGN_OR_RETURN(SharedMapping opened, SharedMapping::Open(std::move(region), *bytes_));
  return Add(std::move(opened));
}

Status SharedRegions::Register(SharedRegion region, SharedObject object) {
  NEREID_RETURN_IF_ERROR(CheckNew(region));
  NEREID_ASSIGN_OR_RETURN(SharedMapping opened,
                          SharedMapping::Map(std::move(region), std::move(object), *bytes_));
  return Add(std::move(opened));
}

Status SharedRegions::Add(SharedMapping opened) {
  const Mapping mapping(new SharedMapping(std::move(opened)), Unmap{unmapping_});
  const base::MutexLock lock(mutex_);
  NEREID_RETURN_IF_ERROR(CheckRoom(mapping->region().name));
  regions_.emplace(mapping->region().name, mapping);
  return Status::Ok();
}

void SharedRegions::Unregister(const std::string& name) {
  Mapping forgotten;  // unmapped after the lock is released
  const base::MutexLock lock(mutex_);
  const auto found = regions_.find(name);
  if (found == regions_.end()) return;
  forgotten = std::move(found->second);
  regions_.erase(found);
}

void SharedRegions::UnregisterAll() {
  std::map<std::string, Mapping, std::less<>> forgotten;
  const base::MutexLock lock(mutex_);
  forgotten.swap(regions_);
}

std::vector<SharedRegion> SharedRegions::List() const {
  std::vector<SharedRegion> list;
  const base::MutexLock lock(mutex_);
  for (const auto& [name, mapping] : regions_) list.push_back(mapping->region());
  return list;
}

std::vector<SharedRegion> SharedRegions::List(std::string_view name) const {
  const base::MutexLock lock(mutex_);
  const auto found = regions_.find(name);
  if (found == regions_.end()) return {};
  return {found->second->region()};
}

base::Result<SharedRegions::Mapping> SharedRegions::Use(std::string_view name) const {
  Mapping mapping;
  {
    const base::MutexLock lock(mutex_);
    const auto found = regions_.find(name);
    if (found == regions_.end()) {
      return Status::NotFound("Unable to find shared memory region: '" + std::string(name) + "'");
    }
    mapping = found->second;
  }
  NEREID_RETURN_IF_ERROR(mapping->CheckUsable());
  return mapping;
}

}  // namespace nereid::memory
