// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/exception_guard.h"

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/log.h"

namespace nereid::frontend::grpc {
namespace {

constexpr uint64_t kPauseNs = 1'000'000'000;

}  // namespace

void LogException(std::string_view where, std::string_view what) noexcept {
  static std::atomic<uint64_t> next_ns{0};
  const uint64_t now = base::SteadyClock().NowNs();
  uint64_t next = next_ns.load(std::memory_order_relaxed);
  if (now < next || !next_ns.compare_exchange_strong(next, now + kPauseNs)) return;
  try {
    LOG_ERROR << "gRPC: " << where << " failed and was ended: " << what;
  } catch (...) {  // no memory even for that
  }
}

}  // namespace nereid::frontend::grpc
