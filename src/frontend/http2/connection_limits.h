// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "frontend/http2/flood_guard.h"
#include "frontend/http2/incomplete_bytes.h"
#include "frontend/http2/keep_alive.h"
#include "frontend/http2/session_options.h"

namespace nereid::frontend::http2 {

/// The limits on what one client may send in a connection beyond what nghttp2 itself limits. Frames
/// that are cheap to send and cost the server work (SETTINGS, PING, RST_STREAM, empty DATA) are
/// counted against frames that belong to requests. Event loop thread only.
class ConnectionLimits {
 public:
  enum class Verdict {
    kAllowed,
    kFlood,         // end the connection with ENHANCE_YOUR_CALM
    kTooManyPings,  // the same, and say "too_many_pings"
  };

  /// Both must outlive the object.
  ConnectionLimits(const SessionOptions& options, const base::Clock& clock);

  /// Counts a frame that arrives. `type` and `flags` are HTTP/2's, `length` is that of the payload.
  Verdict FrameReceived(uint8_t type, size_t length, uint8_t flags, bool has_streams);
  /// Counts a frame that the server sends. `error_code` is that of RST_STREAM. The client provokes
  /// such a reset, with a wrong frame or a request that is refused, so it counts like its own.
  Verdict FrameSent(uint8_t type, uint32_t error_code);
  /// A stream was closed, without an error if `error_code` is 0.
  void StreamClosed(uint32_t error_code);

  /// Returns whether the rest of a request's headers should still be decoded. Headers over the
  /// limit are answered with an error; far over the limit the stream is reset instead.
  bool MayReadHead(size_t size) const { return size <= max_head_size_; }
  void BeginTrailers() { trailers_size_ = 0; }
  /// Does the same for a trailer field of `size` bytes.
  bool MayReadTrailer(size_t size);

  IncompleteBytes& incomplete() { return incomplete_; }

 private:
  const base::Clock& clock_;
  const size_t max_head_size_;
  size_t trailers_size_ = 0;  // of the request whose trailers are arriving
  FloodGuard control_frames_;
  FloodGuard resets_;  // streams that either side resets with an error
  PingStrikes strikes_;
  IncompleteBytes incomplete_;
};

}  // namespace nereid::frontend::http2
