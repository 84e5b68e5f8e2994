// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/byte_budget.h"
#include "frontend/http2/write_queue.h"

namespace nereid::frontend::http2 {

/// The bytes of one stream that HTTP/2's flow control has not yet let out, in order. Not
/// thread-safe.
class Outbox {
 public:
  /// Appends a message. `owner` keeps its pieces alive until they are written. `share` is its part
  /// of a budget, which is given back when the whole message has been moved to a write queue.
  void Push(std::span<const std::string_view> pieces, const std::shared_ptr<const void>& owner,
            base::ByteShare share = {});

  /// Returns the bytes that have not been moved.
  size_t unsent() const { return unsent_; }

  /// Moves the next `size` bytes, at most unsent(), to `queue`. Small pieces are copied; large ones
  /// keep their owner alive until they are written.
  void MoveTo(size_t size, WriteQueue* queue);

  void Clear();

 private:
  struct Piece {
    std::string_view bytes;  // that are not moved; never empty
    std::shared_ptr<const void> owner;
    base::ByteShare share;  // of the last piece of a message
  };

  std::vector<Piece> pieces_;
  size_t front_ = 0;  // pieces before this one are moved
  size_t unsent_ = 0;
};

}  // namespace nereid::frontend::http2
