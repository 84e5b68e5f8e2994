// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/net/byte_stream.h"

namespace nereid::frontend::net {

/// The bytes that wait to be written to a stream, in order. Small pieces are copied next to each
/// other; large ones stay where they are, and the queue shares their owner. A piece's memory is
/// released when the piece has been written, whether or not the queue ever becomes empty. One call
/// of the stream writes many pieces. Not thread-safe.
class OutQueue {
 public:
  /// Up to this size a copy is cheaper than another piece.
  static constexpr size_t kMaxCopied = 4096;

  enum class Outcome {
    kDone,     // the queue is empty
    kPaused,   // the bytes that one call may write are written
    kBlocked,  // the stream takes nothing now
    kLost,     // the connection is broken
  };

  explicit OutQueue(size_t high_water = size_t{512} << 10) : high_water_(high_water) {}

  bool empty() const { return size_ == 0; }
  /// Returns how many bytes wait.
  size_t size() const { return size_; }
  /// Returns whether the reader must take some bytes before more are produced for it.
  bool IsFull() const { return size_ >= high_water_; }

  void Copy(std::string_view bytes);
  /// Adds bytes that `owner` keeps alive and that do not change.
  void View(std::string_view bytes, std::shared_ptr<const void> owner);

  /// Moves the first bytes, at most `size`, to the end of `to`. Copies small pieces.
  void MoveTo(size_t size, OutQueue* to);

  /// Writes as much as the stream takes, with one call in the usual case. Stops when `max` bytes
  /// are written.
  Outcome Write(ByteStream& stream, size_t max = SIZE_MAX) noexcept;

  /// Writes the queue and then `bytes`, of which only those are copied that the stream does not
  /// take. Returns kDone or kBlocked, or kLost, also if memory has run out.
  Outcome Send(ByteStream& stream, std::string_view bytes) noexcept;

  void Clear();

 private:
  struct Piece {
    const char* data;  // null: the next bytes of copies_
    size_t size;
    std::shared_ptr<const void> owner;
  };

  void Pop(size_t size);
  const char* DataOf(const Piece& piece) const {
    return piece.data == nullptr ? copies_.data() + copied_ : piece.data;
  }

  const size_t high_water_;
  std::vector<Piece> pieces_;
  size_t front_ = 0;  // pieces before this one are written
  std::string copies_;
  size_t copied_ = 0;  // bytes of copies_ that are written
  size_t size_ = 0;
};

}  // namespace nereid::frontend::net
