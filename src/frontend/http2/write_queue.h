// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/net/byte_stream.h"

namespace nereid::frontend::http2 {

/// What is to be written to one stream: small bytes are copied together, large ones stay where they
/// are, held by their owner until written. Not thread-safe.
class WriteQueue {
 public:
  enum class Outcome { kDone, kBlocked, kFailed };

  void Copy(std::string_view bytes);
  void View(std::string_view bytes, std::shared_ptr<const void> owner);

  /// Returns how many bytes are not written yet.
  size_t pending() const { return pending_; }

  /// Writes as much as the stream takes, with one call in the usual case.
  Outcome Write(net::ByteStream& stream);

  void Clear();

 private:
  struct Segment {
    const char* data;  // null: `offset` counts in copies_
    size_t offset;
    size_t size;
  };

  std::string copies_;
  std::vector<Segment> segments_;
  std::vector<std::shared_ptr<const void>> owners_;
  size_t front_ = 0;       // first segment with unwritten bytes
  size_t front_done_ = 0;  // bytes of it that are written
  size_t pending_ = 0;
};

}  // namespace nereid::frontend::http2
