// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

namespace nereid::pytorch {

/// Tensors over memory that belongs to the requests and is gone after them. A module may keep what
/// it is given, in an attribute say; what is still held after a run gets a copy of its own, in
/// place, so that everyone who holds it sees the copy.
class BorrowedTensors {
 public:
  BorrowedTensors() = default;
  BorrowedTensors(const BorrowedTensors&) = delete;
  BorrowedTensors& operator=(const BorrowedTensors&) = delete;
  /// Keeps what is held where a run was broken off.
  ~BorrowedTensors();

  /// `data` is aligned to the element, and valid until KeepWhatIsHeld.
  at::Tensor Lend(const char* data, c10::IntArrayRef shape, c10::ScalarType type);

  /// To be called when the run is over and its stack is empty. Throws std::bad_alloc and leaves
  /// those without memory that it could not copy.
  void KeepWhatIsHeld();

 private:
  c10::SmallVector<c10::Storage, 4> storages_;
};

/// Clears a container when the scope is left, also by an exception.
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
