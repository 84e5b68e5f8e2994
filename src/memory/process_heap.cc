// SPDX-License-Identifier: Apache-2.0
#include "memory/process_heap.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace nereid::memory {

void BoundHeapArenas(int cpus) {
#if defined(__GLIBC__)
  const char* const tunables = std::getenv("GLIBC_TUNABLES");
  if (std::getenv("MALLOC_ARENA_MAX") != nullptr ||
      (tunables != nullptr &&
       std::string_view(tunables).find("glibc.malloc.arena_max") != std::string_view::npos)) {
    return;
  }
  mallopt(M_ARENA_MAX, std::max(cpus, 2));
#endif
}

void ReturnFreeMemory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace nereid::memory
