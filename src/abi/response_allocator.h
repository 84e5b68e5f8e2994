// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triton/core/tritonserver.h"

/// The definition of the opaque C type: the callbacks that provide memory for outputs.
struct TRITONSERVER_ResponseAllocator {
  TRITONSERVER_ResponseAllocatorAllocFn_t alloc_fn;      // never NULL
  TRITONSERVER_ResponseAllocatorReleaseFn_t release_fn;  // never NULL
  TRITONSERVER_ResponseAllocatorStartFn_t start_fn;      // may be NULL, like the two below
  TRITONSERVER_ResponseAllocatorBufferAttributesFn_t buffer_attributes_fn = nullptr;
  TRITONSERVER_ResponseAllocatorQueryFn_t query_fn = nullptr;
};
