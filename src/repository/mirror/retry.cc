// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/retry.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <utility>

namespace nereid::repository::mirror {

using base::Status;
using base::StatusCode;

namespace {

constexpr uint32_t kMaxInternalFailures = 3;
constexpr uint64_t kSliceNs = 100'000'000;  // how often a wait asks whether it is cancelled

uint64_t SystemRandom() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return generator();
}

uint64_t RandomOf(const RetryContext& context) {
  return context.random ? context.random() : SystemRandom();
}

}  // namespace

std::optional<uint64_t> NextDelayNs(const RetryPolicy& policy, uint32_t failures, uint64_t random,
                                    uint64_t elapsed_ns) {
  uint64_t bound = std::min(policy.first_ns, policy.cap_ns);
  for (uint32_t i = 1; i < failures && bound < policy.cap_ns; ++i) {
    bound = bound > policy.cap_ns / 2 ? policy.cap_ns : bound * 2;
  }
  const uint64_t delay = bound == UINT64_MAX ? random : random % (bound + 1);
  if (elapsed_ns > policy.total_ns || delay > policy.total_ns - elapsed_ns) return std::nullopt;
  return delay;
}

Attempts::Attempts(const RetryContext& context, std::function<bool()> is_cancelled)
    : context_(context),
      is_cancelled_(std::move(is_cancelled)),
      begin_ns_(context.clock->NowNs()) {}

void Attempts::Restart() {
  begin_ns_ = context_.clock->NowNs();
  failures_ = 0;
  internal_failures_ = 0;
}

Status Attempts::WaitAfter(Status failure) {
  const bool internal = failure.code() == StatusCode::kInternal;
  if (!internal && failure.code() != StatusCode::kUnavailable) return failure;
  if (internal && ++internal_failures_ >= kMaxInternalFailures) return failure;
  ++failures_;
  const uint64_t elapsed = context_.clock->NowNs() - begin_ns_;
  const auto delay = NextDelayNs(context_.policy, failures_, RandomOf(context_), elapsed);
  if (!delay) {
    return {failure.code(), failure.message() + " (after " + std::to_string(failures_) +
                                " attempts in " + std::to_string(elapsed / 1'000'000) + " ms)"};
  }
  NEREID_RETURN_IF_ERROR(Wait(*delay));
  if (context_.on_retry) context_.on_retry();
  return Status::Ok();
}

Status Attempts::Pause(uint32_t failures) const {
  return Wait(NextDelayNs(context_.policy, failures, RandomOf(context_), 0).value_or(0));
}

Status Attempts::Wait(uint64_t ns) const {
  while (true) {
    if (is_cancelled_ && is_cancelled_()) return Status::Cancelled("the load was cancelled");
    if (ns == 0) return Status::Ok();
    const uint64_t slice = std::min(ns, kSliceNs);
    if (context_.sleep) {
      context_.sleep(slice);
    } else {
      std::this_thread::sleep_for(std::chrono::nanoseconds(slice));
    }
    ns -= slice;
  }
}

}  // namespace nereid::repository::mirror
