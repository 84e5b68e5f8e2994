// SPDX-License-Identifier: Apache-2.0
#pragma once

// The C API of response caches: a shared library libtritoncache_<name>.so that keeps responses.
// The rules at the top of tritonserver.h hold here too. Errors that the cache returns belong to the
// server.

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

// Symbol visibility: DECLSPEC marks what the server provides, ISPEC what a cache implements.
// _COMPILING_TRITONCACHE is defined only where the server library is compiled.
#if defined(_MSC_VER)
#ifdef _COMPILING_TRITONCACHE
#define TRITONCACHE_DECLSPEC __declspec(dllexport)
#define TRITONCACHE_ISPEC __declspec(dllimport)
#else
#define TRITONCACHE_DECLSPEC __declspec(dllimport)
#define TRITONCACHE_ISPEC __declspec(dllexport)
#endif
#elif defined(__GNUC__) && defined(_COMPILING_TRITONCACHE)
#define TRITONCACHE_DECLSPEC __attribute__((__visibility__("default")))
#define TRITONCACHE_ISPEC
#elif defined(__GNUC__)
#define TRITONCACHE_DECLSPEC
#define TRITONCACHE_ISPEC __attribute__((__visibility__("default")))
#else
#define TRITONCACHE_DECLSPEC
#define TRITONCACHE_ISPEC
#endif

/// The version of this API that the header describes. See TRITONCACHE_ApiVersion.
#define TRITONCACHE_API_VERSION_MAJOR 0
#define TRITONCACHE_API_VERSION_MINOR 1

/// A cache library's own object.
typedef struct TRITONCACHE_Cache TRITONCACHE_Cache;
/// The buffers of one stored response.
typedef struct TRITONCACHE_CacheEntry TRITONCACHE_CacheEntry;
/// Knows how to copy an entry.
typedef struct TRITONCACHE_Allocator TRITONCACHE_Allocator;

// ---- Implemented by the cache -------------------------------------------------------------------

/// Required. Makes the cache from `config`, a JSON object of strings. What `*cache` points to is
/// the library's own.
TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheInitialize(TRITONCACHE_Cache** cache,
                                                                  const char* config);

/// Required. Deletes the cache. No other function of it is called during or after that.
TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheFinalize(TRITONCACHE_Cache* cache);

/// Required. Stores an entry: the cache reads the sizes of the entry's buffers, points the entry at
/// memory of its own, and calls TRITONCACHE_Copy. ALREADY_EXISTS when the key is stored. Key, entry
/// and allocator are lent for the call. Any thread.
TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheInsert(TRITONCACHE_Cache* cache,
                                                              const char* key,
                                                              TRITONCACHE_CacheEntry* entry,
                                                              TRITONCACHE_Allocator* allocator);

/// Required. Finds an entry: the cache adds its buffers to `entry` and calls TRITONCACHE_Copy while
/// they are safe from eviction. NOT_FOUND when the key is not stored. Key, entry and allocator are
/// lent for the call. Any thread.
TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheLookup(TRITONCACHE_Cache* cache,
                                                              const char* key,
                                                              TRITONCACHE_CacheEntry* entry,
                                                              TRITONCACHE_Allocator* allocator);

// ---- Provided by the server ---------------------------------------------------------------------

/// The version of this API that the running server provides. Never fails. A cache built for (major,
/// minor) runs when the major numbers are equal and the server's minor number is not smaller.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_ApiVersion(uint32_t* major, uint32_t* minor);

/// The number of buffers of an entry.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_CacheEntryBufferCount(
    TRITONCACHE_CacheEntry* entry, size_t* count);

/// Adds a buffer to an entry. The entry does not own the memory; the attributes are copied and must
/// name CPU memory and a size above 0.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_CacheEntryAddBuffer(
    TRITONCACHE_CacheEntry* entry, void* base, TRITONSERVER_BufferAttributes* buffer_attributes);

/// A buffer by index. Its attributes are written into the object that the caller supplies and owns.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_CacheEntryGetBuffer(
    TRITONCACHE_CacheEntry* entry, size_t index, void** base,
    TRITONSERVER_BufferAttributes* buffer_attributes);

/// Points a buffer at other memory, which the entry does not own. Attributes that are NULL stay as
/// they are.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_CacheEntrySetBuffer(
    TRITONCACHE_CacheEntry* entry, size_t index, void* new_base,
    TRITONSERVER_BufferAttributes* buffer_attributes);

/// Copies all buffers between the server and the entry, in the direction of the call that the
/// allocator came with.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_Copy(TRITONCACHE_Allocator* allocator,
                                                          TRITONCACHE_CacheEntry* entry);

#ifdef __cplusplus
}  // extern "C"
#endif
