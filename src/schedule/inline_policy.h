// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace nereid::schedule {

/// Whether requests may run on the thread that enqueues them (--inline-execution).
enum class InlineMode { kAuto, kAlways, kNever };

/// Decides whether a batch runs on the thread that enqueued it instead of the instance's thread. It
/// learns from the durations of the model's executions. A hand-over to the other thread and back
/// costs two wake-ups (about ten microseconds of CPU); a shorter execution is cheaper where the
/// request arrived.
///
/// An execution cannot be interrupted, and its duration may be the client's choice: through the
/// size or the content of its tensors. Therefore:
///  - Executions are judged by the size of their inputs. Each size class (below 4 KiB, below 8 KiB,
///    …) has its own average, and runs on the instance's thread until it has enough samples.
///  - An execution of 5 ms or more, on whichever thread, is a surprise. After it nothing of the
///    model runs inline for 20 times its duration. Each further surprise quadruples that factor, up
///    to 1,000. If 4,000 times the duration of a surprise pass without another one, the factor is
///    20 again.
///
/// So an event loop spends about 0.1 % of its time at most on the surprises of a model. The first
/// pause is short because a single surprise is often caused by the operating system, which ran
/// another thread meanwhile.
///
/// Thread-safe. Concurrent updates may lose a sample, which does no harm.
class InlinePolicy {
 public:
  /// The longest average duration for which a size class runs inline.
  static constexpr uint64_t kCheapNs = 25'000;
  /// Executions of a size class that must be recorded before its average is used.
  static constexpr uint32_t kMinimumSamples = 16;
  /// An execution that takes at least this long is a surprise: no event loop should be held so
  /// long.
  static constexpr uint64_t kSurpriseNs = 5'000'000;
  /// The pause after a surprise, as a multiple of the surprise's duration: the first and the
  /// longest.
  static constexpr uint64_t kFirstBackOff = 20;
  static constexpr uint64_t kMaxBackOff = 1'000;
  static constexpr uint64_t kBackOffGrowth = 4;
  /// For how long a further surprise counts as repeated, as a multiple of the surprise's duration.
  /// Longer than the longest pause, so that a client cannot get the short pauses back by waiting
  /// for the end of one.
  static constexpr uint64_t kRepeated = 4 * kMaxBackOff;

  explicit InlinePolicy(InlineMode mode) : mode_(mode) {}

  /// Returns whether a batch with inputs of `input_bytes` bytes in total should run inline at
  /// `now_ns`.
  bool RunInline(uint64_t input_bytes, uint64_t now_ns) const {
    if (mode_ != InlineMode::kAuto) return mode_ == InlineMode::kAlways;
    const SizeClass& own = classes_[ClassOf(input_bytes)];
    return own.samples.load(std::memory_order_relaxed) >= kMinimumSamples &&
           own.average_ns.load(std::memory_order_relaxed) <= kCheapNs &&
           now_ns >= not_before_ns_.load(std::memory_order_relaxed);
  }

  /// Records one execution that ended at `now_ns`. The average keeps 7/8 of its value at each step:
  /// one execution of more than 200 µs ends inline running of its size class at once, and it takes
  /// many cheap ones to resume it.
  void Record(uint64_t input_bytes, uint64_t execution_ns, uint64_t now_ns) {
    if (mode_ != InlineMode::kAuto) return;
    SizeClass& own = classes_[ClassOf(input_bytes)];
    const uint32_t samples = own.samples.load(std::memory_order_relaxed);
    const uint64_t average = own.average_ns.load(std::memory_order_relaxed);
    own.average_ns.store(samples == 0 ? execution_ns : average - average / 8 + execution_ns / 8,
                         std::memory_order_relaxed);
    if (samples < kMinimumSamples) own.samples.store(samples + 1, std::memory_order_relaxed);
    if (execution_ns >= kSurpriseNs) BackOff(execution_ns, now_ns);
  }

  InlineMode mode() const { return mode_; }

 private:
  struct SizeClass {
    std::atomic<uint64_t> average_ns{0};
    std::atomic<uint32_t> samples{0};
  };
  static constexpr size_t kClasses = 32;

  /// Returns `now_ns` + `factor` * `ns`, or a value near UINT64_MAX where that overflows.
  static uint64_t After(uint64_t now_ns, uint64_t ns, uint64_t factor) {
    return now_ns + std::min(ns, (UINT64_MAX - now_ns) / factor) * factor;
  }

  void BackOff(uint64_t surprise_ns, uint64_t now_ns) {
    const bool repeated = now_ns < repeated_until_ns_.load(std::memory_order_relaxed);
    const uint64_t last = back_off_.load(std::memory_order_relaxed);
    const uint64_t factor = repeated ? std::min(last * kBackOffGrowth, kMaxBackOff) : kFirstBackOff;
    back_off_.store(factor, std::memory_order_relaxed);
    Prolong(repeated_until_ns_, After(now_ns, surprise_ns, kRepeated));
    Prolong(not_before_ns_, After(now_ns, surprise_ns, factor));
  }

  static void Prolong(std::atomic<uint64_t>& until_ns, uint64_t later_ns) {
    if (later_ns > until_ns.load(std::memory_order_relaxed)) {
      until_ns.store(later_ns, std::memory_order_relaxed);
    }
  }

  static size_t ClassOf(uint64_t input_bytes) {
    return std::min<size_t>(static_cast<size_t>(std::bit_width(input_bytes >> 12)), kClasses - 1);
  }

  const InlineMode mode_;
  std::array<SizeClass, kClasses> classes_;
  /// no batch runs inline before this time
  std::atomic<uint64_t> not_before_ns_{0};
  std::atomic<uint64_t> repeated_until_ns_{0};  // a surprise before this time is a repeated one
  std::atomic<uint64_t> back_off_{kFirstBackOff};
};

}  // namespace nereid::schedule
