// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/byte_budget.h"
#include "memory/host_buffer.h"

namespace nereid::memory {

/// Collects the bytes of one message or body from outside. Memory follows the bytes that arrive. An
/// announced size is allocated at once, which saves copies, only up to 64 MiB and only while less
/// than half of the budget is taken; otherwise the buffer grows with its contents. A buffer above
/// kUncharged bytes charges its capacity to the budget until its memory is freed. Not thread-safe.
class ReceiveBuffer {
 public:
  /// Buffers up to this size are not charged. They cost about as much as the call or connection
  /// that owns them, and the number of those is limited elsewhere. Small requests therefore do not
  /// share a counter between event loops, and are served even when the budget is exhausted.
  static constexpr size_t kUncharged = size_t{4} << 10;

  enum class Outcome {
    kDone,
    kOverBudget,  // the budget has no room for this buffer
    kNoMemory,
  };

  /// Without a budget, only the available memory limits the size.
  explicit ReceiveBuffer(std::shared_ptr<base::ByteBudget> budget = nullptr)
      : budget_(std::move(budget)) {}

  /// Discards the content and begins a new one. The first `offset` bytes of the memory stay unused,
  /// so that the caller can align a part of the content. `announced` is the size that the peer has
  /// stated, or 0. Allocates nothing yet.
  void Start(size_t offset, size_t announced);

  /// Receives the content into `borrowed`, which has room for all announced bytes behind `offset`.
  /// Called after Start() and before the first byte. Returns false, and changes nothing, if the
  /// budget is short.
  bool Use(HostBuffer borrowed);

  /// Sets `*room` to free space at the end of the content: at least one byte, at most `wanted`
  /// (which is not 0). The span is valid until the next call. The caller then reports with
  /// Advance() how many bytes it has written.
  Outcome MakeRoom(size_t wanted, std::span<char>* room);
  void Advance(size_t received) { size_ += received; }

  /// Copies `bytes` to the end of the content. If it fails, the bytes that were already copied
  /// stay.
  Outcome Append(std::string_view bytes);

  size_t offset() const { return offset_; }
  size_t size() const { return size_; }
  std::string_view view() const { return {buffer_.data() + offset_, size_}; }

  /// Moves the memory out. The content is [offset(), offset() + size()); the buffer may be longer.
  /// It has no data if size() is 0 and nothing was ever received.
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
