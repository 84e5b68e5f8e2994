// SPDX-License-Identifier: Apache-2.0
#include "python/copies.h"

#include <cstring>
#include <utility>

namespace nereid::python {

using backend::Error;

std::unique_ptr<framework::GpuCopies> CopyStreams::Take() {
  {
    const base::MutexLock lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<framework::GpuCopies> copies = std::move(free_.back());
      free_.pop_back();
      return copies;
    }
  }
  return std::make_unique<framework::GpuCopies>();
}

void CopyStreams::Give(std::unique_ptr<framework::GpuCopies> copies) {
  const base::MutexLock lock(mutex_);
  free_.push_back(std::move(copies));
}

Copies::~Copies() {
  if (on_gpu_ != nullptr) {
    // Without memory to keep the streams, they are destroyed.
    const Error ended = backend::Catching([this]() -> Error {
      Error waited = on_gpu_->Wait();
      streams_.Give(std::move(on_gpu_));
      return waited;
    });
  }
}

Error Copies::Add(Place to, const char* from, int from_gpu, uint64_t size) {
  if (size == 0) {
    return {};
  }
  if (to.gpu < 0 && from_gpu < 0) {
    std::memcpy(to.data, from, size);
    return {};
  }
  if (on_gpu_ == nullptr) {
    on_gpu_ = streams_.Take();
  }
  return on_gpu_->Add(to.data, to.gpu, from, from_gpu, size);
}

Error Copies::Wait() { return on_gpu_ == nullptr ? Error() : on_gpu_->Wait(); }

}  // namespace nereid::python
