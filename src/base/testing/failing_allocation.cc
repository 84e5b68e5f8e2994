// SPDX-License-Identifier: Apache-2.0
#include "base/testing/failing_allocation.h"

#include <cstdlib>
#include <new>

namespace nereid::base::testing {
namespace {

struct Plan {
  bool active = false;
  bool failed = false;
  FailingAllocation::Extent extent = FailingAllocation::Extent::kOne;
  uint64_t left = 0;  // allocations that succeed before the one that fails
};
thread_local Plan plan;

bool Fails() {
  if (!plan.active) return false;
  if (plan.left > 0) {
    --plan.left;
    return false;
  }
  if (plan.failed && plan.extent == FailingAllocation::Extent::kOne) return false;
  plan.failed = true;
  return true;
}

}  // namespace

FailingAllocation::FailingAllocation(uint64_t first, Extent extent) {
  plan = {true, false, extent, first};
}

FailingAllocation::~FailingAllocation() { plan.active = false; }

bool FailingAllocation::has_failed() const { return plan.failed; }

}  // namespace nereid::base::testing

// All forms for types without an extended alignment, though the standard library's others call the
// first: AddressSanitizer replaces each form, and does not accept memory from one of its own.
void* operator new(std::size_t size) {
  if (!nereid::base::testing::Fails()) {
    if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  }
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return nereid::base::testing::Fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
  return operator new(size, tag);
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
