// SPDX-License-Identifier: Apache-2.0
#include "framework/host_scratch.h"

#include <algorithm>
#include <utility>

namespace nereid::framework {

HostScratch::HostScratch(HostScratch&& other) noexcept
    : manager_(other.manager_),
      pinned_(std::exchange(other.pinned_, nullptr)),
      pinned_size_(std::exchange(other.pinned_size_, 0)),
      plain_(std::move(other.plain_)) {}

char* HostScratch::Reserve(size_t size) {
  return manager_ != nullptr && ReservePinned(size) ? pinned_ : plain_.Reserve(size);
}

/// Makes the pinned memory large enough. Returns false if the server has too little.
bool HostScratch::ReservePinned(size_t size) {
  if (pinned_ != nullptr && size <= pinned_size_) {
    return true;
  }
  size_t wanted = std::max<size_t>(size, backend::AlignedBuffer::kAlignment);
  if (pinned_size_ < backend::AlignedBuffer::kKept / 2) {
    wanted = std::max(wanted, 2 * pinned_size_);
  }
  FreePinned();
  void* made = nullptr;
  const Error error(TRITONBACKEND_MemoryManagerAllocate(manager_, &made,
                                                        TRITONSERVER_MEMORY_CPU_PINNED, 0, wanted));
  if (!error.ok() || made == nullptr) {
    return false;
  }
  pinned_ = static_cast<char*>(made);
  pinned_size_ = wanted;
  return true;
}

void HostScratch::Trim() {
  if (pinned_size_ > backend::AlignedBuffer::kKept) {
    FreePinned();
  }
  plain_.Trim();
}

void HostScratch::FreePinned() {
  if (pinned_ != nullptr) {
    const Error ignored(
        TRITONBACKEND_MemoryManagerFree(manager_, pinned_, TRITONSERVER_MEMORY_CPU_PINNED, 0));
  }
  pinned_ = nullptr;
  pinned_size_ = 0;
}

Error FindMemoryManager(TRITONBACKEND_ModelInstance* instance,
                        TRITONBACKEND_MemoryManager** manager) {
  TRITONBACKEND_Model* model = nullptr;
  TRITONBACKEND_Backend* backend = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceModel(instance, &model));
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelBackend(model, &backend));
  return Error(TRITONBACKEND_BackendMemoryManager(backend, manager));
}

}  // namespace nereid::framework
