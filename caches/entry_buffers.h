// SPDX-License-Identifier: Apache-2.0
#pragma once

// The buffers of an entry as a cache handles them, over the C functions.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "nereid/backend/error.h"
#include "triton/core/tritoncache.h"

namespace nereid::caches {

/// One buffer of an entry, in the cache's own memory.
struct StoredBuffer {
  std::unique_ptr<char[]> data;
  size_t size = 0;
};
using StoredBuffers = std::vector<StoredBuffer>;

/// The description of a buffer, for the duration of a call.
class BufferDescription {
 public:
  BufferDescription() = default;
  ~BufferDescription() {
    if (attributes_ != nullptr) {
      const backend::Error deleted(TRITONSERVER_BufferAttributesDelete(attributes_));
    }
  }
  BufferDescription(const BufferDescription&) = delete;
  BufferDescription& operator=(const BufferDescription&) = delete;

  /// To be called once, before all else.
  backend::Error Make() { return backend::Error(TRITONSERVER_BufferAttributesNew(&attributes_)); }

  backend::Error SetHostBytes(size_t size) {
    NEREID_BACKEND_TRY(
        TRITONSERVER_BufferAttributesSetMemoryType(attributes_, TRITONSERVER_MEMORY_CPU));
    NEREID_BACKEND_TRY(TRITONSERVER_BufferAttributesSetMemoryTypeId(attributes_, 0));
    return backend::Error(TRITONSERVER_BufferAttributesSetByteSize(attributes_, size));
  }

  TRITONSERVER_BufferAttributes* get() { return attributes_; }

 private:
  TRITONSERVER_BufferAttributes* attributes_ = nullptr;
};

/// Reads the sizes that the server wants to store, buffer by buffer, and their sum.
inline backend::Error ReadSizes(TRITONCACHE_CacheEntry* entry, StoredBuffers* buffers,
                                uint64_t* bytes) {
  size_t count = 0;
  NEREID_BACKEND_TRY(TRITONCACHE_CacheEntryBufferCount(entry, &count));
  BufferDescription description;
  NEREID_BACKEND_TRY(description.Make());
  buffers->resize(count);
  *bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    size_t& size = (*buffers)[i].size;
    void* base = nullptr;
    NEREID_BACKEND_TRY(TRITONCACHE_CacheEntryGetBuffer(entry, i, &base, description.get()));
    NEREID_BACKEND_TRY(TRITONSERVER_BufferAttributesByteSize(description.get(), &size));
    if (__builtin_add_overflow(*bytes, size, bytes)) {
      return backend::Error::InvalidArgument("the entry is larger than memory can be");
    }
  }
  return {};
}

/// Makes room for buffers whose sizes are known and lets the server write the entry into it.
inline backend::Error FillBuffers(TRITONCACHE_CacheEntry* entry, TRITONCACHE_Allocator* allocator,
                                  StoredBuffers* buffers) {
  BufferDescription description;
  NEREID_BACKEND_TRY(description.Make());
  for (size_t i = 0; i < buffers->size(); ++i) {
    StoredBuffer& buffer = (*buffers)[i];
    buffer.data.reset(new char[buffer.size]);  // not initialised: the server writes every byte
    NEREID_BACKEND_TRY(description.SetHostBytes(buffer.size));
    NEREID_BACKEND_TRY(
        TRITONCACHE_CacheEntrySetBuffer(entry, i, buffer.data.get(), description.get()));
  }
  return backend::Error(TRITONCACHE_Copy(allocator, entry));
}

}  // namespace nereid::caches
