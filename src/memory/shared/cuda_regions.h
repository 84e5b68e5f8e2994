// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/blocking_workers.h"
#include "base/mutex.h"
#include "base/result.h"
#include "memory/shared/cuda_mapping.h"

namespace nereid::memory {

/// The regions of GPU memory that clients have registered, by name. A user of a region holds its
/// mapping, which stays open after the region is unregistered. Thread-safe.
class CudaRegions {
 public:
  using Mapping = std::shared_ptr<const CudaMapping>;

  explicit CudaRegions(size_t max_regions = 1024);
  CudaRegions(const CudaRegions&) = delete;
  CudaRegions& operator=(const CudaRegions&) = delete;

  /// Opens a region. Returns ALREADY_EXISTS for a name that is registered, UNAVAILABLE when the
  /// maximum is reached, and the errors of CudaMapping::Open. Waits for the driver, so it must not
  /// be called on an event loop.
  base::Status Register(CudaRegion region);
  /// Forgets a region; unknown names are ignored. Closes it unless it is in use.
  void Unregister(const std::string& name);
  void UnregisterAll();

  /// Returns all regions, sorted by name, without their handles.
  std::vector<CudaRegion> List() const;
  /// Returns the region with this name; null if there is none.
  Mapping Find(std::string_view name) const;

 private:
  base::Status CheckRoom(const std::string& name) const NEREID_REQUIRES(mutex_);

  const size_t max_regions_;
  /// Closes regions whose last user is an event loop.
  const std::shared_ptr<base::BlockingWorkers> closing_;
  mutable base::Mutex mutex_;
  std::map<std::string, Mapping, std::less<>> regions_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::memory
