// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/status.h"
#include "memory/buffer_attributes.h"
#include "triton/core/tritoncache.h"

namespace nereid::cache {

/// A piece of memory that an entry refers to and does not own.
struct EntryBuffer {
  void* base = nullptr;  // null during an insertion until the cache has made room
  memory::BufferAttributes attributes;
};

/// The object behind TRITONCACHE_CacheEntry: the buffers of one stored response. Lives for one call
/// into the plug-in, on the thread of that call.
struct CacheEntry {
  std::vector<EntryBuffer> buffers;

  TRITONCACHE_CacheEntry* handle() { return reinterpret_cast<TRITONCACHE_CacheEntry*>(this); }
  static CacheEntry* From(TRITONCACHE_CacheEntry* handle) {
    return reinterpret_cast<CacheEntry*>(handle);
  }
};

/// The object behind TRITONCACHE_Allocator: what TRITONCACHE_Copy does during the present call. In
/// an insertion it writes the response into the entry's buffers; in a look-up it reads the response
/// from them.
class EntryCopier {
 public:
  virtual ~EntryCopier() = default;
  virtual base::Status Copy(CacheEntry& entry) = 0;

  TRITONCACHE_Allocator* handle() { return reinterpret_cast<TRITONCACHE_Allocator*>(this); }
  static EntryCopier* From(TRITONCACHE_Allocator* handle) {
    return reinterpret_cast<EntryCopier*>(handle);
  }
};

}  // namespace nereid::cache
