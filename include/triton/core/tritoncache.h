// SPDX-License-Identifier: Apache-2.0
#pragma once

// The C API of response caches: a shared library libtritoncache_<name>.so that stores responses.
// The rules at the top of tritonserver.h apply here, too. Errors that the cache returns belong to
// the server.

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

// Symbol visibility: DECLSPEC marks the functions that the server provides, ISPEC those that a
// cache implements. _COMPILING_TRITONCACHE is defined only where the server library is compiled.
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

/// An object of a cache library.
typedef struct TRITONCACHE_Cache TRITONCACHE_Cache;
/// The buffers of one stored response.
typedef struct TRITONCACHE_CacheEntry TRITONCACHE_CacheEntry;
/// Copies an entry.
typedef struct TRITONCACHE_Allocator TRITONCACHE_Allocator;

// ---- Implemented by the cache -------------------------------------------------------------------

/// Required. Creates the cache from `config`, a JSON object of strings. `*cache` belongs to the
/// library.
TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheInitialize(TRITONCACHE_Cache** cache,
                                                                  const char* config);

/// Required. Deletes the cache. No other function of the cache is called during or after this call.
TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheFinalize(TRITONCACHE_Cache* cache);

/// Required. Stores an entry: the cache reads the sizes of the entry's buffers, sets the buffers to
/// its own memory, and calls TRITONCACHE_Copy. ALREADY_EXISTS if the key is stored. Key, entry and
/// allocator are valid during the call. May be called from any thread.
TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheInsert(TRITONCACHE_Cache* cache,
                                                              const char* key,
                                                              TRITONCACHE_CacheEntry* entry,
                                                              TRITONCACHE_Allocator* allocator);

/// Required. Finds an entry: the cache adds its buffers to `entry` and calls TRITONCACHE_Copy while
/// they cannot be evicted. NOT_FOUND if the key is not stored. Key, entry and allocator are valid
/// during the call. May be called from any thread.
TRITONCACHE_ISPEC TRITONSERVER_Error* TRITONCACHE_CacheLookup(TRITONCACHE_Cache* cache,
                                                              const char* key,
                                                              TRITONCACHE_CacheEntry* entry,
                                                              TRITONCACHE_Allocator* allocator);

// ---- Provided by the server ---------------------------------------------------------------------

/// Returns the version of this API that the running server provides. Never fails. A cache that was
/// built for (major, minor) can be used if the major numbers are equal and the server's minor
/// number is not smaller.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_ApiVersion(uint32_t* major, uint32_t* minor);

/// Returns the number of buffers of an entry.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_CacheEntryBufferCount(
    TRITONCACHE_CacheEntry* entry, size_t* count);

/// Adds a buffer to an entry. The entry does not own the memory. The attributes are copied; they
/// must have CPU memory and a size above 0.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_CacheEntryAddBuffer(
    TRITONCACHE_CacheEntry* entry, void* base, TRITONSERVER_BufferAttributes* buffer_attributes);

/// Returns a buffer by index. Its attributes are written to the caller's object.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_CacheEntryGetBuffer(
    TRITONCACHE_CacheEntry* entry, size_t index, void** base,
    TRITONSERVER_BufferAttributes* buffer_attributes);

/// Sets a buffer to other memory, which the entry does not own. NULL keeps the attributes.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_CacheEntrySetBuffer(
    TRITONCACHE_CacheEntry* entry, size_t index, void* new_base,
    TRITONSERVER_BufferAttributes* buffer_attributes);

/// Copies all buffers between the server and the entry, in the direction of the call to which the
/// allocator belongs.
TRITONCACHE_DECLSPEC TRITONSERVER_Error* TRITONCACHE_Copy(TRITONCACHE_Allocator* allocator,
                                                          TRITONCACHE_CacheEntry* entry);

#ifdef __cplusplus
}  // extern "C"
#endif
