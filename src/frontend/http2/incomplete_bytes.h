// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace nereid::frontend::http2 {

/// Counts the bytes that the incomplete requests of one connection hold, all streams together. Else
/// a client could exhaust the memory for requests of all clients with requests that it never ends.
/// Not thread-safe.
class IncompleteBytes {
 public:
  /// SIZE_MAX: no limit.
  explicit IncompleteBytes(size_t limit) : limit_(limit) {}

  /// A stream that held `before` bytes holds `now` bytes. Returns false if it has grown and the
  /// connection exceeds its limit. A single request may exceed it: the limit is for several.
  bool Change(size_t before, size_t now) {
    total_ += now - before;  // modulo 2^64 if it is less
    return now <= before || total_ == now || total_ <= limit_;
  }

 private:
  const size_t limit_;
  size_t total_ = 0;
};

}  // namespace nereid::frontend::http2
