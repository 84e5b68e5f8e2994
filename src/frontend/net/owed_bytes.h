// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "frontend/net/byte_stream.h"

namespace nereid::frontend::net {

/// The bytes that a stream has to write to another one, which has not taken them yet. Not
/// thread-safe.
class OwedBytes {
 public:
  explicit OwedBytes(ByteStream& stream) : stream_(stream) {}

  bool empty() const { return bytes_.empty(); }
  size_t size() const { return bytes_.size() - written_; }
  /// Returns whether so much is owed that nothing should be read that may need an answer: the
  /// client does not read the answers.
  bool is_too_much() const { return size() > kMaxOwed; }

  /// Writes bytes after the earlier ones. What the stream does not take is kept, and it is asked to
  /// tell when it can be written again. Returns false if the connection is lost, or if there is no
  /// memory.
  bool Send(std::string_view bytes) noexcept;
  /// Writes what was kept, as far as possible. Returns false if the connection is lost.
  bool Flush() noexcept;

 private:
  static constexpr size_t kMaxOwed = size_t{128} << 10;

  ByteStream& stream_;
  std::string bytes_;
  size_t written_ = 0;  // of bytes_
};

}  // namespace nereid::frontend::net
