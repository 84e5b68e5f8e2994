// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace nereid::schedule {

/// Whether requests may run on the thread that brings them.
enum class InlineMode { kAuto, kAlways, kNever };

/// Decides, from how long the model's executions take, whether handing a request over to the
/// instance's own thread costs more than it gains. A hand-over there and back costs two wake-ups
/// (about ten microseconds of CPU); an execution that is shorter than that is better run where the
/// request arrived.
///
/// An execution cannot be interrupted, and how long one takes may be the client's choice: by the
/// size of its tensors, or by what is in them. So
///  - executions are judged by the size of their inputs: each class (below 4 KiB, below 8 KiB, …)
///    has an average of its own, and runs on the instance's thread until that is known;
///  - an execution of 5 ms or more, wherever it ran, is a surprise: it ends inline running of the
///    whole model for twenty times as long. The next one quadruples that factor, up to a
///    thousand, unless it comes more than 4,000 times the length of a surprise later: then the
///    factor is twenty again.
///    An event loop spends about 0.1 % of its time on the surprises of a model at most. The first
///    pause is short because a single surprise is often the operating system's, which ran another
///    thread meanwhile.
/// Thread-safe; racing updates may lose a sample, which does no harm.
class InlinePolicy {
 public:
  /// Executions up to this long count as cheap.
  static constexpr uint64_t kCheapNs = 25'000;
  /// Executions of a size class that are seen before its average is trusted.
  static constexpr uint32_t kMinimumSamples = 16;
  /// What no event loop should be held for.
  static constexpr uint64_t kSurpriseNs = 5'000'000;
  /// How many times as long as a surprise nothing runs inline after it: at first, and at most.
  static constexpr uint64_t kFirstBackOff = 20;
  static constexpr uint64_t kMaxBackOff = 1'000;
  static constexpr uint64_t kBackOffGrowth = 4;
  /// How many times as long as a surprise the next one counts as repeated. Longer than the longest
  /// pause: whoever waits that long for the short pauses to come back gains nothing.
  static constexpr uint64_t kRepeated = 4 * kMaxBackOff;

  explicit InlinePolicy(InlineMode mode) : mode_(mode) {}

  bool RunInline(uint64_t input_bytes, uint64_t now_ns) const {
    if (mode_ != InlineMode::kAuto) return mode_ == InlineMode::kAlways;
    const SizeClass& own = classes_[ClassOf(input_bytes)];
    return own.samples.load(std::memory_order_relaxed) >= kMinimumSamples &&
           own.average_ns.load(std::memory_order_relaxed) <= kCheapNs &&
           now_ns >= not_before_ns_.load(std::memory_order_relaxed);
  }

  /// Records one execution, which is over at `now_ns`. The average forgets with a factor of 7/8: a
  /// single slow execution ends inline running at once, and it takes many cheap ones to come back.
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

  /// `now_ns` + `factor` * `ns`, or the end of time.
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
  std::atomic<uint64_t> not_before_ns_{0};
  std::atomic<uint64_t> repeated_until_ns_{0};  // a surprise before this time is a repeated one
  std::atomic<uint64_t> back_off_{kFirstBackOff};
};

}  // namespace nereid::schedule
