// SPDX-License-Identifier: Apache-2.0
#include "memory/free_memory.h"

#include <malloc.h>

namespace nereid::memory {

void ReturnFreeMemory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace nereid::memory
