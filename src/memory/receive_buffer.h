// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/byte_budget.h"
#include "memory/host_buffer.h"

namespace nereid::memory {

/// Collects the bytes of one message or body from outside. Memory follows the bytes that arrive: an
/// announced size is allocated at once, which saves copies, only up to 64 MiB and only while less
/// than half of the budget is taken; otherwise the buffer grows with its contents. The capacity of
/// a buffer above kUncharged is charged to the budget for as long as the memory lives. One thread
/// at a time.
class ReceiveBuffer {
 public:
  /// A buffer up to this size costs about as much as the call or connection that it belongs to,
  /// whose number is bounded elsewhere. Small requests so share no counter among the event loops,
  /// and are served although others have taken the whole budget.
  static constexpr size_t kUncharged = size_t{4} << 10;

  enum class Outcome {
    kDone,
    kOverBudget,  // others hold the budget's bytes
    kNoMemory,
  };

  /// Without a budget there is no bound but memory itself.
  explicit ReceiveBuffer(std::shared_ptr<base::ByteBudget> budget = nullptr)
      : budget_(std::move(budget)) {}

  /// Begins a new content. The first `offset` bytes of the memory stay unused, so that a caller can
  /// align what lies inside the content; `announced` is the size that the peer stated, 0 if it
  /// stated none. Allocates nothing yet.
  void Start(size_t offset, size_t announced);

  /// Makes room for at least one more byte and at most `wanted` (not 0). `*room` is where the next
  /// bytes belong; it is valid until the next call. Advance() then says how many came.
  Outcome MakeRoom(size_t wanted, std::span<char>* room);
  void Advance(size_t received) { size_ += received; }

  /// Copies `bytes` to the end of the content. What was appended before a failure is kept.
  Outcome Append(std::string_view bytes);

  size_t offset() const { return offset_; }
  size_t size() const { return size_; }
  std::string_view view() const { return {buffer_.data() + offset_, size_}; }

  /// Gives the memory away; its content is [offset(), offset() + size()), and it may be longer.
  /// The buffer has no data where size() is 0 and nothing was ever received.
  HostBuffer Take() { return std::move(buffer_); }

 private:
  size_t NextCapacity(size_t needed) const;
  Outcome Reserve(size_t capacity);

  std::shared_ptr<base::ByteBudget> budget_;
  HostBuffer buffer_;
  size_t offset_ = 0;
  size_t announced_ = 0;
  size_t size_ = 0;
};

}  // namespace nereid::memory
