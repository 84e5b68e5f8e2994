// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/byte_budget.h"
#include "frontend/http/exchange.h"
#include "frontend/http/request_head.h"
#include "memory/host_buffer.h"
#include "memory/receive_buffer.h"

namespace nereid::frontend::http {

/// Returns memory for `size` bytes of binary tensors of the request whose head has come, or a
/// buffer without data: the caller then takes memory of its own. Other processes may read and write
/// the memory that is returned.
using BodyMemorySource = std::function<memory::HostBuffer(size_t size)>;

/// Collects the bytes of one body at a time. Not thread-safe.
class BodyReceiver {
 public:
  using Outcome = memory::ReceiveBuffer::Outcome;

  /// `take_memory` is asked for memory of large bodies; null: there is none.
  BodyReceiver(std::shared_ptr<base::ByteBudget> budget, BodyMemorySource take_memory)
      : take_memory_(std::move(take_memory)), buffer_(std::move(budget)) {}

  /// Begins a body of `size` bytes. Discards another one.
  void Start(const RequestHead& head, uint64_t size);
  /// Begins a body of unknown size, `max_size` at most. Returns the buffer that its bytes are to be
  /// appended to.
  memory::ReceiveBuffer* StartUnknown(const RequestHead& head, uint64_t max_size);

  /// Sets `*room` to space for the next bytes of a body of known size: at least one byte unless the
  /// body is complete, at most `max`. The caller then reports with Advance() how many bytes it has
  /// written.
  Outcome MakeRoom(size_t max, std::span<char>* room);
  void Advance(size_t size);
  /// Takes the bytes that belong to the body from the front of `input`.
  Outcome Append(std::string_view* input);

  size_t received() const { return json_received_ + buffer_.size(); }
  /// Whether a body of known size is complete.
  bool is_complete() const { return received() == size_; }

  /// Moves the body out.
  Body Take();
  /// Discards the body and returns its memory, which may take long to free.
  memory::HostBuffer Drop();

 private:
  /// Begins to receive the tensors of a body into borrowed memory. Returns false if that is not
  /// possible.
  bool Borrow(const RequestHead& head, uint64_t size);
  bool IsInJson() const { return json_received_ < json_.size(); }

  const BodyMemorySource take_memory_;
  memory::ReceiveBuffer buffer_;
  std::string json_;          // where it is received apart from the tensors
  size_t json_received_ = 0;  // of it
  size_t size_ = 0;           // of the whole body, if it is known
};

}  // namespace nereid::frontend::http
