// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/loop_services.h"

#include <algorithm>
#include <utility>

#include "frontend/http/http_date.h"
#include "frontend/net/failure_log.h"

namespace nereid::frontend::http {
namespace {

using std::chrono::milliseconds;

constexpr size_t kScratchBytes = size_t{64} << 10;
constexpr milliseconds kLongestTick{1000};
constexpr milliseconds kLinger{2000};

/// A quarter of the shortest timeout, but no more often than tests need and once a second at least.
milliseconds TickFor(const HttpServerOptions& options) {
  milliseconds tick = kLongestTick;
  for (const milliseconds timeout : {options.head_timeout, options.stall_timeout,
                                     options.idle_timeout, options.half_closed_patience}) {
    if (timeout.count() > 0) tick = std::min(tick, timeout / 4);
  }
  return std::max(tick, milliseconds{5});
}

uint64_t TicksFor(milliseconds timeout, milliseconds tick) {
  if (timeout.count() <= 0) return 0;
  return static_cast<uint64_t>((timeout + tick - milliseconds{1}) / tick);
}

/// A timeout of 0 means never: a time with which the sessions can calculate.
milliseconds OrNever(milliseconds timeout) {
  constexpr std::chrono::hours kNever{24 * 365};
  return timeout.count() <= 0 ? kNever : std::min<milliseconds>(timeout, kNever);
}

/// There are no strikes for PINGs, unlike with gRPC: browsers and proxies send them when they like,
/// and those that are a flood count as such.
http2::SessionOptions SessionOptionsOf(const HttpServerOptions& options) {
  return {.max_concurrent_streams = options.max_concurrent_streams,
          .max_head_size = options.max_head_size,
          .keep_alive = {.max_ping_strikes = 0},
          .stall_timeout = OrNever(options.stall_timeout),
          .head_timeout = OrNever(options.head_timeout),
          .idle_timeout = OrNever(options.idle_timeout),
          .receive_budget = options.receive_budget};
}

}  // namespace

TimeoutTicks::TimeoutTicks(const HttpServerOptions& options)
    : tick(TickFor(options)),
      head(TicksFor(options.head_timeout, tick)),
      stall(TicksFor(options.stall_timeout, tick)),
      idle(TicksFor(options.idle_timeout, tick)),
      half_closed(TicksFor(options.half_closed_patience, tick)),
      linger(TicksFor(kLinger, tick)) {}

LoopServices::LoopServices(net::ServerLoop& server_loop, const HttpServerOptions& options,
                           std::shared_ptr<HttpHandler> handler)
    : server_loop_(server_loop),
      loop_(&server_loop.event_loop()),
      inbox_(server_loop.event_loop().inbox()),
      options_(options),
      handler_(std::move(handler)),
      timeouts_(options_),
      session_options_(SessionOptionsOf(options_)),
      scratch_(kScratchBytes) {}

LoopServices::~LoopServices() = default;

void LoopServices::Complete(net::Task& task, std::shared_ptr<void> owner) noexcept {
  // The loops are only compared: a loop that has gone is no thread's current one.
  if (net::EventLoop::Current() != loop_ || dispatch_depth_ == 0) {
    return inbox_->Post(task, std::move(owner));
  }
  if (task.Claim(std::move(owner))) completed_.PushBack(task);
}

// The text of the date is made once a second; asking for the time costs some nanoseconds.
std::string_view LoopServices::server_fields() {
  const std::time_t now = std::time(nullptr);
  if (now != fields_time_) {
    server_fields_ = options_.server_fields + "Date: " + HttpDate(now) + "\r\n";
    fields_time_ = now;
  }
  return server_fields_;
}

http2::Connection::Host& LoopServices::http2_host() {
  if (!http2_connections_) http2_connections_.emplace(server_loop_, /*shares_loop=*/true);
  return *http2_connections_;
}

void LoopServices::RunCompletions() noexcept {
  // An answer may let the next request of a client in, which may complete at once: until none is
  // left.
  while (!completed_.empty()) {
    ++dispatch_depth_;
    completed_.PopFront().RunNow();
    --dispatch_depth_;
  }
}

void LoopServices::ReportFailure(const char* what) noexcept {
  static base::LogThrottle throttle;
  net::LogFailure(throttle, base::LogLevel::kError,
                  {"HTTP: a request could not be served: ", what});
}

}  // namespace nereid::frontend::http
