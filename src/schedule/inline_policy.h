// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace nereid::schedule {

/// Whether requests may run on the thread that brings them.
enum class InlineMode { kAuto, kAlways, kNever };

/// Decides, from how long the model's executions take, whether handing a request over to the
/// instance's own thread costs more than it gains. A hand-over there and back costs two wake-ups
/// (ten microseconds of CPU, several times that on a virtual machine); an execution that is shorter
/// than that is better run where the request arrived.
///
/// What an execution takes on the instance's thread says little of what it would take where the
/// request arrived: it begins with cold caches and ends with a wake-up. So the two are judged
/// apart: executions that do not look expensive over there are tried inline, and stay there if they
/// are cheap. Each trial that fails doubles the executions until the next. Thread-safe; racing
/// updates may lose a sample, which does no harm.
class InlinePolicy {
 public:
  /// Executions up to this long count as cheap.
  static constexpr uint64_t kCheapNs = 25'000;
  /// Executions on the instance's thread that look no longer than this are worth a trial.
  static constexpr uint64_t kWorthATrialNs = 3 * kCheapNs;
  /// One execution counts as no longer than this: a thread that the system set aside for a while
  /// says nothing of the model.
  static constexpr uint64_t kMostCountedNs = 4 * kCheapNs;
  /// But one that held the caller up for so long ends inline running at once.
  static constexpr uint64_t kFarTooLongNs = 20'000'000;
  /// Executions before the first trial, and the most before another.
  static constexpr uint32_t kFewestBeforeTrial = 16;
  static constexpr uint32_t kMostBeforeTrial = 1 << 16;
  /// A trial that lasted for so many executions did not fail.
  static constexpr uint32_t kSettled = 1024;

  explicit InlinePolicy(InlineMode mode) : mode_(mode), inline_(mode == InlineMode::kAlways) {}

  bool RunInline() const { return inline_.load(std::memory_order_relaxed); }

  /// Records one execution, wherever it ran.
  void Record(uint64_t execution_ns) {
    if (mode_ != InlineMode::kAuto) return;
    const uint64_t counted = std::min(execution_ns, kMostCountedNs);
    const uint64_t before = average_ns_.load(std::memory_order_relaxed);
    const uint64_t average = before - before / 8 + counted / 8;
    average_ns_.store(average, std::memory_order_relaxed);
    uint32_t executions = executions_.load(std::memory_order_relaxed);
    if (executions < kMostBeforeTrial) executions_.store(++executions, std::memory_order_relaxed);
    if (RunInline()) {
      if (average > kCheapNs || execution_ns >= kFarTooLongNs) Leave(executions);
    } else if (executions >= wait_.load(std::memory_order_relaxed) && average <= kWorthATrialNs) {
      Enter();
    }
  }

  InlineMode mode() const { return mode_; }

 private:
  void Enter() {
    average_ns_.store(0, std::memory_order_relaxed);
    executions_.store(0, std::memory_order_relaxed);
    inline_.store(true, std::memory_order_relaxed);
  }

  void Leave(uint32_t executions) {
    const uint32_t wait = wait_.load(std::memory_order_relaxed);
    wait_.store(executions >= kSettled ? kFewestBeforeTrial : std::min(2 * wait, kMostBeforeTrial),
                std::memory_order_relaxed);
    executions_.store(0, std::memory_order_relaxed);
    inline_.store(false, std::memory_order_relaxed);
  }

  const InlineMode mode_;
  std::atomic<bool> inline_;
  std::atomic<uint64_t> average_ns_{0};             // of what was counted, forgetting with 7/8
  std::atomic<uint32_t> executions_{0};             // since inline_ changed
  std::atomic<uint32_t> wait_{kFewestBeforeTrial};  // executions until the next trial
};

}  // namespace nereid::schedule
