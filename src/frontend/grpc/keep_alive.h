// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace nereid::frontend::grpc {

/// How connections are kept alive and how long they live: gRPC's channel arguments of these names,
/// with gRPC's defaults.
struct KeepAliveOptions {
  std::chrono::milliseconds time{7'200'000};  // of silence before the server sends a PING
  std::chrono::milliseconds timeout{20'000};  // that the client may stay silent after it
  bool permit_without_calls = false;          // PINGs also while no call runs
  int max_pings_without_data = 2;             // 0: no bound
  std::chrono::milliseconds min_recv_ping_interval_without_data{300'000};
  int max_ping_strikes = 2;                               // 0: no bound
  std::chrono::milliseconds max_connection_age{0};        // 0: no bound
  std::chrono::milliseconds max_connection_age_grace{0};  // 0: no bound
};

/// Counts the PINGs that a client sends sooner than it may. What the server sends of a call
/// (headers or data) forgives them all, because clients measure the connection's bandwidth by PINGs
/// then.
class PingStrikes {
 public:
  explicit PingStrikes(const KeepAliveOptions& options) : options_(options) {}

  /// The client sent a PING. False when it was one too many.
  bool Allow(uint64_t now_ns, bool has_calls);
  void DataSent() {
    strikes_ = 0;
    last_ns_ = 0;
  }

 private:
  const KeepAliveOptions& options_;
  uint64_t last_ns_ = 0;  // of the last PING since data was sent; 0: none
  int strikes_ = 0;
};

/// Decides when a connection is asked whether it lives, and when it has lived long enough. Times
/// are monotonic ns.
class KeepAlive {
 public:
  enum class Action { kNothing, kPing, kGoAway, kClose };

  /// `options` must outlive the object. `jitter` in [0, 1) spreads the ages of connections that
  /// came together over 10 % to both sides.
  KeepAlive(const KeepAliveOptions& options, uint64_t now_ns, double jitter);

  /// Bytes came from the client; any are an answer. `now_ns` may be a few milliseconds old.
  void Heard(uint64_t now_ns) {
    heard_ns_ = now_ns;
    ping_ns_ = 0;
  }
  /// Headers or data of a call went out.
  void DataSent() { pings_without_data_ = 0; }

  /// What is to be done now. The caller does it, and asks again until nothing is left.
  Action Decide(uint64_t now_ns, bool has_calls);

  /// When to ask again; it may be asked sooner. UINT64_MAX: never.
  uint64_t NextNs() const;

 private:
  const KeepAliveOptions& options_;
  uint64_t heard_ns_;
  uint64_t looked_ns_;    // when silence was found last and no PING was due
  uint64_t ping_ns_ = 0;  // of the PING that is not answered; 0: none
  uint64_t go_away_ns_;   // UINT64_MAX: never, or done
  uint64_t end_ns_ = UINT64_MAX;
  int pings_without_data_ = 0;
};

}  // namespace nereid::frontend::grpc
