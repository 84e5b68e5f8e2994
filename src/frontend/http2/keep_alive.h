// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

namespace nereid::frontend::http2 {

/// How connections are kept alive, and for how long: gRPC's channel arguments of the same names,
/// with gRPC's defaults.
struct KeepAliveOptions {
  std::chrono::milliseconds time{7'200'000};  // of silence until the server sends a PING
  std::chrono::milliseconds timeout{20'000};  // until the client must have answered it
  bool permit_without_calls = false;          // also send PINGs without a request
  int max_pings_without_data = 2;             // 0: no limit
  std::chrono::milliseconds min_recv_ping_interval_without_data{300'000};
  int max_ping_strikes = 2;                               // 0: no limit
  std::chrono::milliseconds max_connection_age{0};        // 0: no limit
  std::chrono::milliseconds max_connection_age_grace{0};  // 0: no limit
};

/// Counts the PINGs that a client sends sooner than it may. The count begins anew whenever the
/// server sends headers or data of a response, because clients then measure the bandwidth with
/// PINGs.
class PingStrikes {
 public:
  explicit PingStrikes(const KeepAliveOptions& options) : options_(options) {}

  /// Counts a PING of the client. Returns false if it was one too many.
  bool Allow(uint64_t now_ns, bool has_streams);
  void DataSent() {
    strikes_ = 0;
    last_ns_ = 0;
  }

 private:
  const KeepAliveOptions& options_;
  uint64_t last_ns_ = 0;  // of the last PING since data was sent; 0: none
  int strikes_ = 0;
};

/// Decides when the server sends a PING, and when a connection ends by its age or because its
/// client does not answer. Times are monotonic nanoseconds.
class KeepAlive {
 public:
  enum class Action { kNothing, kPing, kGoAway, kClose };

  /// `options` must outlive the object. `jitter` in [0, 1) changes the maximum age by up to 10 % in
  /// both directions, so that connections that were opened together do not end together.
  KeepAlive(const KeepAliveOptions& options, uint64_t now_ns, double jitter);

  /// Notes that bytes came from the client. Any bytes answer a PING. `now_ns` may be a few
  /// milliseconds old. Returns whether a PING waited for them: NextNs() may be sooner than before.
  bool Heard(uint64_t now_ns) {
    heard_ns_ = now_ns;
    return std::exchange(ping_ns_, 0) != 0;
  }
  /// Notes that headers or data of a response were sent.
  void DataSent() { pings_without_data_ = 0; }

  /// Returns what the caller must do now. The caller asks again until the result is kNothing.
  Action Decide(uint64_t now_ns, bool has_streams);

  /// Returns the time of the next Decide(), which may also be called sooner. UINT64_MAX: never.
  uint64_t NextNs() const;

 private:
  const KeepAliveOptions& options_;
  uint64_t heard_ns_;
  uint64_t looked_ns_;    // the last time at which no PING was sent despite silence
  uint64_t ping_ns_ = 0;  // of the PING that is not answered; 0: none
  uint64_t go_away_ns_;   // UINT64_MAX: never, or done
  uint64_t end_ns_ = UINT64_MAX;
  int pings_without_data_ = 0;
};

}  // namespace nereid::frontend::http2
