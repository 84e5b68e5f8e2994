// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "nereid/backend/aligned_buffer.h"
#include "nereid/backend/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid::framework {

using backend::Error;

/// Host memory that an instance keeps between executions. For an instance on a GPU it is pinned
/// memory of the server as far as the server has some, because a GPU copies that faster. Not
/// thread-safe.
class HostScratch {
 public:
  HostScratch() = default;
  HostScratch(HostScratch&& other) noexcept;
  HostScratch& operator=(HostScratch&&) = delete;
  ~HostScratch() { FreePinned(); }

  /// Takes pinned memory from `manager`, which must outlive the object. Called before Reserve.
  void UsePinned(TRITONBACKEND_MemoryManager* manager) { manager_ = manager; }

  /// Returns at least `size` bytes with undefined content, valid until the next call or Trim.
  /// Throws std::bad_alloc.
  char* Reserve(size_t size);

  /// Frees the memory if it is large.
  void Trim();

 private:
  bool ReservePinned(size_t size);
  void FreePinned();

  TRITONBACKEND_MemoryManager* manager_ = nullptr;
  char* pinned_ = nullptr;
  size_t pinned_size_ = 0;
  backend::AlignedBuffer plain_;
};

/// Sets `manager` to the server's source of memory for the backend of an instance.
Error FindMemoryManager(TRITONBACKEND_ModelInstance* instance,
                        TRITONBACKEND_MemoryManager** manager);

}  // namespace nereid::framework
