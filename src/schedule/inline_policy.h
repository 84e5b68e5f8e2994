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
///  - An execution of 5 ms or more, on any thread, is an overrun. After an overrun no batch of the
///    model runs inline for 20 times the duration of the overrun (the back-off). Each further
///    overrun quadruples that factor, up to 1,000. If 4,000 times the duration of an overrun pass
///    without another one, the factor is 20 again.
///
/// So an event loop spends about 0.1 % of its time at most on the overruns of a model. The first
/// back-off is short because a single overrun is often caused by the operating system, which ran
/// another thread meanwhile.
///
/// Thread-safe. Concurrent updates may lose a sample, which does no harm.
class InlinePolicy {
 public:
  /// The longest average duration for which a size class runs inline: this, and a nanosecond more
  /// for kBytesPerNs bytes of input, but never more than kMaxLargeInlineNs. A model has to read its
  /// input, which is in the cache of the CPU that has received it; another CPU would have to fetch
  /// it from there. That suffices for models that only copy their input, also on a busy machine.
  /// The maximum is less than what a busy connection may hold the loop anyway.
  static constexpr uint64_t kMaxInlineNs = 25'000;
  static constexpr uint64_t kBytesPerNs = 16;
  static constexpr uint64_t kMaxLargeInlineNs = 160'000;
  /// Executions of a size class that must be recorded before its average is used.
  static constexpr uint32_t kMinSamples = 16;
  /// An execution that takes at least this long is an overrun: an event loop must not be held so
  /// long.
  static constexpr uint64_t kOverrunNs = 5'000'000;
  /// The back-off after an overrun, as a multiple of the overrun's duration: the first one and the
  /// longest one.
  static constexpr uint64_t kFirstBackOff = 20;
  static constexpr uint64_t kMaxBackOff = 1'000;
  static constexpr uint64_t kBackOffGrowth = 4;
  /// For how long a further overrun counts as repeated, as a multiple of the overrun's duration.
  /// Longer than the longest back-off, so that a client cannot return to the short back-offs by
  /// waiting for the end of one.
  static constexpr uint64_t kRepeatFactor = 4 * kMaxBackOff;

  explicit InlinePolicy(InlineMode mode) : mode_(mode) {}

  /// Returns whether a batch with inputs of `input_bytes` bytes in total should run inline at
  /// `now_ns`.
  bool RunInline(uint64_t input_bytes, uint64_t now_ns) const {
    if (mode_ != InlineMode::kAuto) return mode_ == InlineMode::kAlways;
    const SizeClass& own = classes_[ClassOf(input_bytes)];
    return own.samples.load(std::memory_order_relaxed) >= kMinSamples &&
           own.average_ns.load(std::memory_order_relaxed) <=
               std::min(kMaxInlineNs + input_bytes / kBytesPerNs, kMaxLargeInlineNs) &&
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
    if (samples < kMinSamples) own.samples.store(samples + 1, std::memory_order_relaxed);
    if (execution_ns >= kOverrunNs) BackOff(execution_ns, now_ns);
  }

  InlineMode mode() const { return mode_; }

 private:
  struct SizeClass {
    std::atomic<uint64_t> average_ns{0};
    std::atomic<uint32_t> samples{0};
  };
  static constexpr size_t kSizeClasses = 32;

  /// Returns `now_ns` + `factor` * `ns`, or a value near UINT64_MAX where that overflows.
  static uint64_t After(uint64_t now_ns, uint64_t ns, uint64_t factor) {
    return now_ns + std::min(ns, (UINT64_MAX - now_ns) / factor) * factor;
  }

  void BackOff(uint64_t overrun_ns, uint64_t now_ns) {
    const bool repeated = now_ns < repeated_until_ns_.load(std::memory_order_relaxed);
    const uint64_t last = back_off_.load(std::memory_order_relaxed);
    const uint64_t factor = repeated ? std::min(last * kBackOffGrowth, kMaxBackOff) : kFirstBackOff;
    back_off_.store(factor, std::memory_order_relaxed);
    Prolong(repeated_until_ns_, After(now_ns, overrun_ns, kRepeatFactor));
    Prolong(not_before_ns_, After(now_ns, overrun_ns, factor));
  }

  static void Prolong(std::atomic<uint64_t>& until_ns, uint64_t later_ns) {
    if (later_ns > until_ns.load(std::memory_order_relaxed)) {
      until_ns.store(later_ns, std::memory_order_relaxed);
    }
  }

  static size_t ClassOf(uint64_t input_bytes) {
    return std::min<size_t>(static_cast<size_t>(std::bit_width(input_bytes >> 12)),
                            kSizeClasses - 1);
  }

  const InlineMode mode_;
  std::array<SizeClass, kSizeClasses> classes_;
  std::atomic<uint64_t> not_before_ns_{0};      // no batch runs inline before this time
  std::atomic<uint64_t> repeated_until_ns_{0};  // an overrun before this time is a repeated one
  std::atomic<uint64_t> back_off_{kFirstBackOff};
};

}  // namespace nereid::schedule
