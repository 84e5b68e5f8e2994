// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/byte_budget.h"
#include "base/result.h"
#include "memory/shared/bus_guard.h"
#include "memory/shared/shared_object.h"

namespace nereid::memory {

/// A region of shared memory as its client registers it: `byte_size` bytes of the object `key`,
/// from byte `offset` of the object on.
struct SharedRegion {
  std::string name;
  std::string key;
  uint64_t offset = 0;
  uint64_t byte_size = 0;
};

/// A region that is mapped into the process. The client may change the bytes at any time. It may
/// also make its object smaller, which breaks the region: the process goes on with zero pages (see
/// GuardedRange), and the region is useless from then on. Immutable, but for that; thread-safe.
class SharedMapping {
 public:
  /// Opens and maps the region. Its size is taken from `budget` until it is unmapped. Returns the
  /// errors of SharedObject::Open and of GuardedRange::Claim, UNAVAILABLE if the budget has no
  /// room, and INVALID_ARGUMENT, with Triton's texts, for a region that exceeds the object or does
  /// not begin at a page.
  static base::Result<SharedMapping> Open(SharedRegion region, base::ByteBudget& budget);
  /// Does the same for an object that is open; the region's key is only a text.
  static base::Result<SharedMapping> Map(SharedRegion region, SharedObject object,
                                         base::ByteBudget& budget);
  SharedMapping(SharedMapping&& other) noexcept
      : region_(std::move(other.region_)),
        object_(std::move(other.object_)),
        share_(std::move(other.share_)),
        data_(std::exchange(other.data_, nullptr)),
        guard_(std::move(other.guard_)) {}
  SharedMapping& operator=(SharedMapping&&) = delete;
  ~SharedMapping();

  const SharedRegion& region() const { return region_; }
  char* data() const { return data_; }

  bool IsBroken() const { return guard_.IsBroken(); }
  /// Returns an error if the region is broken. To be called after the bytes were used.
  base::Status CheckIntact() const;
  /// Returns an error if the region is broken, or if its object is smaller now than the region. To
  /// be called before the bytes are used. The object may still shrink after that.
  base::Status CheckUsable() const;
  /// Returns an error if reading `byte_size` bytes could cost more memory than the client has
  /// written: the pages of an object that were never written get memory when they are read.
  base::Status CheckStored(uint64_t byte_size) const;

 private:
  SharedMapping(SharedRegion region, SharedObject object)
      : region_(std::move(region)), object_(std::move(object)) {}
  base::Status MapInto(base::ByteBudget& budget);

  SharedRegion region_;
  SharedObject object_;
  base::ByteShare share_;
  char* data_ = nullptr;
  GuardedRange guard_;
};

}  // namespace nereid::memory
