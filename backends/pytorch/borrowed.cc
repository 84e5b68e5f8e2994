// SPDX-License-Identifier: Apache-2.0
#include "pytorch/borrowed.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/CPUAllocator.h>

#include <cstring>
#include <utility>

namespace nereid::pytorch {

BorrowedTensors::~BorrowedTensors() {
  try {
    KeepWhatIsHeld();
  } catch (const std::exception&) {
    // Storages that could not be copied are empty now, which is safe.
  }
}

at::Tensor BorrowedTensors::Lend(const char* data, c10::IntArrayRef shape, c10::ScalarType type) {
  // The const_cast is safe: nothing writes to the tensor (see BorrowableArguments).
  at::Tensor tensor =
      at::from_blob(const_cast<char*>(data), shape, c10::TensorOptions().dtype(type));  // NOLINT
  storages_.push_back(tensor.storage());
  return tensor;
}

void BorrowedTensors::KeepWhatIsHeld() {
  const auto storages = std::exchange(storages_, {});
  bool failed = false;
  for (const c10::Storage& storage : storages) {
    if (storage.use_count() == 1) {
      continue;
    }
    c10::StorageImpl* held = storage.unsafeGetStorageImpl();
    try {
      c10::DataPtr copy = c10::GetCPUAllocator()->allocate(held->nbytes());
      std::memcpy(copy.get(), held->data(), held->nbytes());
      held->set_data_ptr_noswap(std::move(copy));
    } catch (const std::exception&) {
      failed = true;
      held->set_nbytes(0);
      held->set_data_ptr_noswap(c10::DataPtr(nullptr, c10::Device(c10::kCPU)));
    }
  }
  if (failed) {
    throw std::bad_alloc();
  }
}

}  // namespace nereid::pytorch
