// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nereid::base::testing {

/// Makes allocations of the calling thread fail with std::bad_alloc while the object lives. A test
/// that uses it links failing_allocation.cc, which replaces the global operator new. Only one
/// object may live in a thread.
class FailingAllocation {
 public:
  enum class Extent {
    kOne,       // the allocation with number `first` fails, all others succeed
    kAllAfter,  // it and all later ones fail
  };

  /// All allocations fail.
  FailingAllocation() : FailingAllocation(0, Extent::kAllAfter) {}
  /// Allocations are counted from 0.
  FailingAllocation(uint64_t first, Extent extent);
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;

  /// Returns whether an allocation of the thread has failed since the construction.
  bool has_failed() const;
};

}  // namespace nereid::base::testing
