// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/testing/no_memory.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace nereid::frontend::net::testing {
namespace {

thread_local bool refuses = false;

}  // namespace

NoMemory::NoMemory() { refuses = true; }
NoMemory::~NoMemory() { refuses = false; }

static void* Allocate(std::size_t size) {
  void* const memory = refuses ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace nereid::frontend::net::testing

// The other forms call these.
void* operator new(std::size_t size) { return nereid::frontend::net::testing::Allocate(size); }
void* operator new[](std::size_t size) { return nereid::frontend::net::testing::Allocate(size); }
// AddressSanitizer replaces these forms too, and does not accept memory from one of its own.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return std::malloc(size == 0 ? 1 : size);
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
