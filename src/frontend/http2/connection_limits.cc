// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/connection_limits.h"

#include <nghttp2/nghttp2.h>

namespace nereid::frontend::http2 {
namespace {

constexpr uint32_t kControlBurst = 2000, kControlPerSecond = 100;
constexpr uint32_t kResetBurst = 1000, kResetsPerSecond = 200;
// Heads of this many times the limit are not decoded to their end.
constexpr size_t kMaxHeadFactor = 2;

// Returns the limit for several incomplete requests of a connection: half of what the whole server
// may hold.
size_t MaxIncomplete(const SessionOptions& options) {
  return options.receive_budget == nullptr ? SIZE_MAX : options.receive_budget->limit() / 2;
}

}  // namespace

ConnectionLimits::ConnectionLimits(const SessionOptions& options, const base::Clock& clock)
    : clock_(clock),
      max_head_size_(size_t{options.max_head_size} * kMaxHeadFactor),
      control_frames_(kControlBurst, kControlPerSecond, clock.NowNs()),
      resets_(options.max_concurrent_streams + kResetBurst, kResetsPerSecond, clock.NowNs()),
      strikes_(options.keep_alive),
      incomplete_(MaxIncomplete(options)) {}

ConnectionLimits::Verdict ConnectionLimits::FrameReceived(uint8_t type, size_t length,
                                                          uint8_t flags, bool has_streams) {
  const auto now = [this] { return clock_.NowNs(); };
  bool allowed = true;
  switch (type) {
    case NGHTTP2_HEADERS:
      control_frames_.Earn();
      break;
    case NGHTTP2_DATA:
      if (length > 0) {
        control_frames_.Earn();
      } else if ((flags & NGHTTP2_FLAG_END_STREAM) == 0) {
        allowed = control_frames_.Allow(now);
      }
      break;
    case NGHTTP2_RST_STREAM:
      allowed = resets_.Allow(now);
      break;
    case NGHTTP2_WINDOW_UPDATE:
    case NGHTTP2_CONTINUATION:  // nghttp2 limits it
      break;
    case NGHTTP2_PING:
      // Only the client's own PINGs are strikes; answers to the server's are control frames.
      if ((flags & NGHTTP2_FLAG_ACK) == 0 && !strikes_.Allow(now(), has_streams)) {
        return Verdict::kTooManyPings;
      }
      allowed = control_frames_.Allow(now);
      break;
    default:
      allowed = control_frames_.Allow(now);
  }
  return allowed ? Verdict::kAllowed : Verdict::kFlood;
}

ConnectionLimits::Verdict ConnectionLimits::FrameSent(uint8_t type, uint32_t error_code) {
  if (type == NGHTTP2_HEADERS || type == NGHTTP2_DATA) {
    strikes_.DataSent();
    return Verdict::kAllowed;
  }
  const bool is_error = type == NGHTTP2_RST_STREAM && error_code != NGHTTP2_NO_ERROR;
  if (!is_error || resets_.Allow([this] { return clock_.NowNs(); })) return Verdict::kAllowed;
  return Verdict::kFlood;
}

void ConnectionLimits::StreamClosed(uint32_t error_code) {
  if (error_code == NGHTTP2_NO_ERROR) resets_.Earn();
}

bool ConnectionLimits::MayReadTrailer(size_t size) {
  trailers_size_ += size;
  return trailers_size_ <= max_head_size_;
}

}  // namespace nereid::frontend::http2
