// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies the buffers of a cache entry between the server and a cache, with the C functions.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "nereid/backend/error.h"
#include "triton/core/tritoncache.h"

namespace nereid::caches {

/// A buffer of an entry, in memory that the cache owns.
struct StoredBuffer {
  std::unique_ptr<char[]> data;
  size_t size = 0;
};
using StoredBuffers = std::vector<StoredBuffer>;

/// An owned TRITONSERVER_BufferAttributes object.
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

  /// Creates the object. Must be called once, before all other functions.
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

/// Reads the sizes of the buffers that the server wants to store, and their sum in bytes.
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

/// Allocates buffers of the sizes in `buffers`, and has the server copy the entry into them.
inline backend::Error FillBuffers(TRITONCACHE_CacheEntry* entry, TRITONCACHE_Allocator* allocator,
                                  StoredBuffers* buffers) {
  BufferDescription description;
  NEREID_BACKEND_TRY(description.Make());
  for (size_t i = 0; i < buffers->size(); ++i) {
    StoredBuffer& buffer = (*buffers)[i];
    // Not initialized, because the server writes every byte.
    buffer.data.reset(new char[buffer.size]);
    NEREID_BACKEND_TRY(description.SetHostBytes(buffer.size));
    NEREID_BACKEND_TRY(
        TRITONCACHE_CacheEntrySetBuffer(entry, i, buffer.data.get(), description.get()));
  }
  return backend::Error(TRITONCACHE_Copy(allocator, entry));
}

}  // namespace nereid::caches
