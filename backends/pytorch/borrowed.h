// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

namespace nereid::pytorch {

/// Tensors over memory that belongs to the requests and is freed after them. A module may keep such
/// a tensor, for example in an attribute. The storage of a tensor that is still referenced after
/// the run is replaced by a copy, which all holders then see. Not thread-safe.
class BorrowedTensors {
 public:
  BorrowedTensors() = default;
  BorrowedTensors(const BorrowedTensors&) = delete;
  BorrowedTensors& operator=(const BorrowedTensors&) = delete;
  /// Does the same as KeepWhatIsHeld, for a run that has ended with an exception.
  ~BorrowedTensors();

  /// Returns a tensor over `data`, which must be aligned to the element size and valid until
  /// KeepWhatIsHeld.
  at::Tensor Lend(const char* data, c10::IntArrayRef shape, c10::ScalarType type);

  /// Copies the storages that are still referenced. Must be called after the run, when its stack is
  /// empty. Throws std::bad_alloc if memory runs out; the storages that could not be copied are
  /// then empty.
  void KeepWhatIsHeld();

 private:
  c10::SmallVector<c10::Storage, 4> storages_;
};

/// Clears a container at the end of the scope, also after an exception.
template <typename Container>
class ClearedAtEnd {
 public:
  explicit ClearedAtEnd(Container* container) : container_(*container) {}
  ClearedAtEnd(const ClearedAtEnd&) = delete;
  ClearedAtEnd& operator=(const ClearedAtEnd&) = delete;
  ~ClearedAtEnd() { container_.clear(); }

 private:
  Container& container_;
};

}  // namespace nereid::pytorch
