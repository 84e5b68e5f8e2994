// SPDX-License-Identifier: Apache-2.0
// The functions of tritoncache.h, which the server provides to cache plug-ins.
#include <string>

#include "abi/error.h"
#include "abi/handle.h"
#include "cache/cache_entry.h"
#include "memory/buffer_attributes.h"

using namespace nereid;
using base::Status;
using cache::CacheEntry;
using cache::EntryCopier;

namespace {

Status CheckIndex(const CacheEntry& entry, size_t index) {
  if (index < entry.buffers.size()) return Status::Ok();
  return Status::InvalidArgument("out of bounds index " + std::to_string(index) + ": there are " +
                                 std::to_string(entry.buffers.size()) +
                                 " buffers in the cache entry");
}

/// The server reads and writes the memory itself, so it must be host memory.
Status CheckHostMemory(const memory::BufferAttributes& attributes) {
  if (attributes.memory_type == memory::MemoryType::kGpu) {
    return Status::InvalidArgument(
        "only buffers in CPU memory are allowed in a cache entry, not one in GPU memory");
  }
  if (attributes.byte_size == 0) {
    return Status::InvalidArgument("a buffer of a cache entry must have a byte size above 0");
  }
  return Status::Ok();
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONCACHE_ApiVersion(uint32_t* major, uint32_t* minor) {
  NEREID_CHECK_NOT_NULL(major, minor);
  *major = TRITONCACHE_API_VERSION_MAJOR;
  *minor = TRITONCACHE_API_VERSION_MINOR;
  return nullptr;
}

TRITONSERVER_Error* TRITONCACHE_CacheEntryBufferCount(TRITONCACHE_CacheEntry* entry,
                                                      size_t* count) {
  NEREID_CHECK_NOT_NULL(entry, count);
  *count = CacheEntry::From(entry)->buffers.size();
  return nullptr;
}

TRITONSERVER_Error* TRITONCACHE_CacheEntryAddBuffer(
    TRITONCACHE_CacheEntry* entry, void* base, TRITONSERVER_BufferAttributes* buffer_attributes) {
  NEREID_CHECK_NOT_NULL(entry, base, buffer_attributes);
  return abi::Guard([&] {
    const memory::BufferAttributes& attributes = abi::Unwrap(buffer_attributes);
    NEREID_RETURN_IF_ERROR(CheckHostMemory(attributes));
    CacheEntry::From(entry)->buffers.push_back({base, attributes});
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONCACHE_CacheEntryGetBuffer(
    TRITONCACHE_CacheEntry* entry, size_t index, void** base,
    TRITONSERVER_BufferAttributes* buffer_attributes) {
  NEREID_CHECK_NOT_NULL(entry, base, buffer_attributes);
  return abi::Guard([&] {
    CacheEntry& from = *CacheEntry::From(entry);
    NEREID_RETURN_IF_ERROR(CheckIndex(from, index));
    *base = from.buffers[index].base;
    abi::Unwrap(buffer_attributes) = from.buffers[index].attributes;
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONCACHE_CacheEntrySetBuffer(
    TRITONCACHE_CacheEntry* entry, size_t index, void* new_base,
    TRITONSERVER_BufferAttributes* buffer_attributes) {
  NEREID_CHECK_NOT_NULL(entry, new_base);
  return abi::Guard([&] {
    CacheEntry& to = *CacheEntry::From(entry);
    NEREID_RETURN_IF_ERROR(CheckIndex(to, index));
    if (buffer_attributes != nullptr) {
      const memory::BufferAttributes& attributes = abi::Unwrap(buffer_attributes);
      NEREID_RETURN_IF_ERROR(CheckHostMemory(attributes));
      to.buffers[index].attributes = attributes;
    }
    to.buffers[index].base = new_base;
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONCACHE_Copy(TRITONCACHE_Allocator* allocator,
                                     TRITONCACHE_CacheEntry* entry) {
  NEREID_CHECK_NOT_NULL(allocator, entry);
  return abi::Guard([&] { return EntryCopier::From(allocator)->Copy(*CacheEntry::From(entry)); });
}

}  // extern "C"
