// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/keep_alive.h"

#include <algorithm>

namespace nereid::frontend::http2 {
namespace {

using std::chrono::milliseconds;

// Without requests a client may send PINGs as often as TCP's own keep-alive does.
constexpr milliseconds kIdlePingInterval{7'200'000};

uint64_t Ns(milliseconds time) {
  return static_cast<uint64_t>(std::max<int64_t>(time.count(), 0)) * 1'000'000;
}

// A time of 0 would send PINGs without a pause.
uint64_t AtLeastOneMs(milliseconds time) { return std::max(Ns(time), Ns(milliseconds(1))); }

}  // namespace

bool PingStrikes::Allow(uint64_t now_ns, bool has_streams) {
  const bool is_idle = !has_streams && !options_.permit_without_calls;
  const uint64_t interval =
      Ns(is_idle ? kIdlePingInterval : options_.min_recv_ping_interval_without_data);
  const bool too_soon = last_ns_ != 0 && now_ns < last_ns_ + interval;
  last_ns_ = now_ns;
  if (too_soon) ++strikes_;
  return options_.max_ping_strikes == 0 || strikes_ <= options_.max_ping_strikes;
}

KeepAlive::KeepAlive(const KeepAliveOptions& options, uint64_t now_ns, double jitter)
    : options_(options), heard_ns_(now_ns), looked_ns_(now_ns), go_away_ns_(UINT64_MAX) {
  if (options.max_connection_age.count() > 0) {
    const uint64_t age = Ns(options.max_connection_age);
    const double spread = static_cast<double>(age / 5) * jitter;
    go_away_ns_ = now_ns + age - age / 10 + static_cast<uint64_t>(spread);
  }
}

KeepAlive::Action KeepAlive::Decide(uint64_t now_ns, bool has_streams) {
  if (now_ns >= end_ns_) return Action::kClose;
  if (now_ns >= go_away_ns_) {
    go_away_ns_ = UINT64_MAX;
    if (options_.max_connection_age_grace.count() > 0) {
      end_ns_ = now_ns + Ns(options_.max_connection_age_grace);
    }
    return Action::kGoAway;
  }
  if (ping_ns_ != 0) {
    return now_ns >= ping_ns_ + AtLeastOneMs(options_.timeout) ? Action::kClose : Action::kNothing;
  }
  if (now_ns < std::max(heard_ns_, looked_ns_) + AtLeastOneMs(options_.time)) {
    return Action::kNothing;
  }
  looked_ns_ = now_ns;
  if (!has_streams && !options_.permit_without_calls) return Action::kNothing;
  const int limit = options_.max_pings_without_data;
  if (limit != 0 && pings_without_data_ >= limit) return Action::kNothing;
  ++pings_without_data_;
  ping_ns_ = now_ns;
  return Action::kPing;
}

uint64_t KeepAlive::NextNs() const {
  const uint64_t ask = ping_ns_ == 0 ? std::max(heard_ns_, looked_ns_) + AtLeastOneMs(options_.time)
                                     : ping_ns_ + AtLeastOneMs(options_.timeout);
  return std::min({ask, go_away_ns_, end_ns_});
}

}  // namespace nereid::frontend::http2
