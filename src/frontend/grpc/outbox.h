// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/byte_budget.h"
#include "codec/proto/infer_response.h"
#include "frontend/grpc/write_queue.h"

namespace nereid::frontend::grpc {

/// The complete messages of one call that HTTP/2's flow control has not yet let out, oldest first.
/// Not thread-safe.
class Outbox {
 public:
  /// Appends a message. `share` is its part of a budget, which is given back when the whole message
  /// has been moved to a write queue.
  void Push(codec::proto::EncodedMessage message, base::ByteShare share);

  /// Returns the bytes of all messages that have not been moved.
  size_t unsent() const { return unsent_; }

  /// Moves the next `size` bytes, at most unsent(), to `queue`. Small pieces are copied; large ones
  /// keep their message alive until they are written.
  void MoveTo(size_t size, WriteQueue* queue);

  void Clear();

 private:
  struct Entry {
    std::shared_ptr<codec::proto::EncodedMessage> message;
    base::ByteShare share;
    size_t piece = 0;   // the first piece with bytes that are not moved
    size_t offset = 0;  // in that piece
  };

  std::vector<Entry> entries_;
  size_t front_ = 0;  // entries before this one are empty
  size_t unsent_ = 0;
};

}  // namespace nereid::frontend::grpc
