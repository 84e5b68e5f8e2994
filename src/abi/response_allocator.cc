// SPDX-License-Identifier: Apache-2.0
#include "abi/response_allocator.h"

#include "abi/error.h"

using namespace nereid;

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorNew(
    TRITONSERVER_ResponseAllocator** allocator, TRITONSERVER_ResponseAllocatorAllocFn_t alloc_fn,
    TRITONSERVER_ResponseAllocatorReleaseFn_t release_fn,
    TRITONSERVER_ResponseAllocatorStartFn_t start_fn) {
  NEREID_CHECK_NOT_NULL(allocator, alloc_fn, release_fn);
  return abi::Guard([&] {
    *allocator = new TRITONSERVER_ResponseAllocator{alloc_fn, release_fn, start_fn};
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorSetBufferAttributesFunction(
    TRITONSERVER_ResponseAllocator* allocator,
    TRITONSERVER_ResponseAllocatorBufferAttributesFn_t buffer_attributes_fn) {
  NEREID_CHECK_NOT_NULL(allocator);
  allocator->buffer_attributes_fn = buffer_attributes_fn;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorSetQueryFunction(
    TRITONSERVER_ResponseAllocator* allocator, TRITONSERVER_ResponseAllocatorQueryFn_t query_fn) {
  NEREID_CHECK_NOT_NULL(allocator);
  allocator->query_fn = query_fn;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorDelete(
    TRITONSERVER_ResponseAllocator* allocator) {
  delete allocator;
  return nullptr;
}

}  // extern "C"
