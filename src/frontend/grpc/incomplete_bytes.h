// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace nereid::frontend::grpc {

/// Counts the bytes that the incomplete messages of one connection hold, all calls together. Else a
/// client could exhaust the memory for requests of all clients with messages that it never ends.
/// Not thread-safe.
class IncompleteBytes {
 public:
  /// SIZE_MAX: no limit.
  explicit IncompleteBytes(size_t limit) : limit_(limit) {}

  /// A call that held `before` bytes holds `now` bytes. Returns false if the call has grown and the
  /// connection exceeds its limit. A single message may exceed it: the limit is for several.
  bool Change(size_t before, size_t now) {
    total_ += now - before;  // modulo 2^64 if it is less
    return now <= before || total_ == now || total_ <= limit_;
  }

 private:
  const size_t limit_;
  size_t total_ = 0;
};

}  // namespace nereid::frontend::grpc
