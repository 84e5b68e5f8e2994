// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/loop_services.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_throttle.h"

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

}  // namespace

TimeoutTicks::TimeoutTicks(const HttpServerOptions& options)
    : tick(TickFor(options)),
      head(TicksFor(options.head_timeout, tick)),
      stall(TicksFor(options.stall_timeout, tick)),
      idle(TicksFor(options.idle_timeout, tick)),
      half_closed(TicksFor(options.half_closed_patience, tick)),
      linger(TicksFor(kLinger, tick)) {}

LoopServices::LoopServices(const HttpServerOptions& options, std::shared_ptr<HttpHandler> handler)
    : options_(options),
      handler_(std::move(handler)),
      timeouts_(options_),
      scratch_(kScratchBytes) {}

LoopServices::~LoopServices() = default;

void LoopServices::ReportFailure(const char* what) noexcept {
  static base::LogThrottle throttle;
  uint64_t left_out = 0;
  if (!throttle.Admit(base::SteadyClock().NowNs(), &left_out)) return;
  try {
    LOG_ERROR << "HTTP: a request could not be served: " << what
              << (left_out == 0 ? "" : "; so it was with others since the last such message");
  } catch (const std::exception&) {
    // Not even the message: the next one may do better.
  }
}

}  // namespace nereid::frontend::http
