// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/blocking_workers.h"
#include "base/byte_budget.h"
#include "base/mutex.h"
#include "base/result.h"
#include "memory/shared/shared_mapping.h"

namespace nereid::memory {

struct SharedRegionLimits {
  /// The maximum number of registered regions; each takes a file descriptor.
  size_t regions = 1024;
  /// The maximum size of all regions together that are registered or in use. Mapped memory costs
  /// address space only, of which a process has 128 TiB.
  uint64_t bytes = uint64_t{1} << 40;
};

/// The regions that clients have registered, by name. A user of a region holds its mapping, which
/// lives on after the region is unregistered. Thread-safe.
class SharedRegions {
 public:
  using Mapping = std::shared_ptr<const SharedMapping>;

  explicit SharedRegions(const SharedRegionLimits& limits = {});
  SharedRegions(const SharedRegions&) = delete;
  SharedRegions& operator=(const SharedRegions&) = delete;

  /// Maps a region. Returns ALREADY_EXISTS for a name that is registered, UNAVAILABLE when a limit
  /// is reached, and the errors of SharedMapping::Open. Opens a file, so it should not be called on
  /// an event loop.
  base::Status Register(SharedRegion region);
  /// Does the same for an object that the client has sent; the region's key is only a text.
  base::Status Register(SharedRegion region, SharedObject object);
  /// Forgets a region; unknown names are ignored. Unmaps it unless it is in use, which takes a few
  /// milliseconds for a gigabyte.
  void Unregister(const std::string& name);
  void UnregisterAll();

  /// Returns all regions, sorted by name.
  std::vector<SharedRegion> List() const;
  /// Returns one region; nothing if the name is not registered.
  std::vector<SharedRegion> List(std::string_view name) const;

  /// Returns a mapping that may be used now (SharedMapping::CheckUsable). Returns NOT_FOUND, with
  /// Triton's text, for an unknown name.
  base::Result<Mapping> Use(std::string_view name) const;

 private:
  base::Status CheckNew(const SharedRegion& region) const;
  base::Status CheckRoom(const std::string& name) const NEREID_REQUIRES(mutex_);
  base::Status Add(SharedMapping opened);

  const size_t max_regions_;
  const std::shared_ptr<base::ByteBudget> bytes_;
  /// Unmaps large regions whose last user is an event loop.
  const std::shared_ptr<base::BlockingWorkers> unmapping_;
  mutable base::Mutex mutex_;
  std::map<std::string, Mapping, std::less<>> regions_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::memory
