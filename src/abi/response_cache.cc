// SPDX-License-Identifier: Apache-2.0
// What the server provides to response caches.
#include "abi/error.h"
#include "triton/core/tritoncache.h"

using namespace nereid;

namespace {
constexpr char kCache[] = "response cache";
}

extern "C" {

TRITONSERVER_Error* TRITONCACHE_ApiVersion(uint32_t* major, uint32_t* minor) {
  NEREID_CHECK_NOT_NULL(major);
  NEREID_CHECK_NOT_NULL(minor);
  *major = TRITONCACHE_API_VERSION_MAJOR;
  *minor = TRITONCACHE_API_VERSION_MINOR;
  return nullptr;
}

TRITONSERVER_Error* TRITONCACHE_CacheEntryBufferCount(TRITONCACHE_CacheEntry*, size_t*) {
  return abi::MissingFeature(__func__, kCache);
}

TRITONSERVER_Error* TRITONCACHE_CacheEntryAddBuffer(TRITONCACHE_CacheEntry*, void*,
                                                    TRITONSERVER_BufferAttributes*) {
  return abi::MissingFeature(__func__, kCache);
}

TRITONSERVER_Error* TRITONCACHE_CacheEntryGetBuffer(TRITONCACHE_CacheEntry*, size_t, void**,
                                                    TRITONSERVER_BufferAttributes*) {
  return abi::MissingFeature(__func__, kCache);
}

TRITONSERVER_Error* TRITONCACHE_CacheEntrySetBuffer(TRITONCACHE_CacheEntry*, size_t, void*,
                                                    TRITONSERVER_BufferAttributes*) {
  return abi::MissingFeature(__func__, kCache);
}

TRITONSERVER_Error* TRITONCACHE_Copy(TRITONCACHE_Allocator*, TRITONCACHE_CacheEntry*) {
  return abi::MissingFeature(__func__, kCache);
}

}  // extern "C"
