// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace nereid::model {

/// The maximum length of a ladder of numbers of threads.
inline constexpr size_t kMaxRungs = 7;

/// Returns the numbers of threads that are tried for one execution on `cpus` CPUs, ascending: the
/// powers of four below `cpus`, and `cpus`. At least one, at most kMaxRungs. Steps of two would
/// gain a few percent, but some frameworks need memory for each number.
std::vector<int> ThreadLadder(int cpus);

/// A set of places in a ladder.
class RungSet {
 public:
  RungSet() = default;
  /// Returns the set of the places below `count`.
  static RungSet Below(size_t count) { return RungSet((uint32_t{1} << count) - 1); }
  bool Contains(size_t rung) const { return (bits_ >> rung & 1) != 0; }
  void Add(size_t rung) { bits_ |= uint32_t{1} << rung; }

 private:
  explicit RungSet(uint32_t bits) : bits_(bits) {}
  uint32_t bits_ = 0;
};

/// Why an execution got its number of threads.
enum class ThreadReason {
  kFixed,      // a setting, or a framework whose number of threads does not change
  kShort,      // the execution is too short for several threads
  kMeasuring,  // the duration with this number of threads is not known yet, or is measured again
  kNoGain,     // CPUs are idle, but more threads were not faster
  kIdle,       // CPUs are idle, and this number was the fastest
  kShared,     // other executions need the other CPUs
};
inline constexpr size_t kThreadReasons = 6;

/// Returns the reason as the value of the metrics' label `reason`.
std::string_view ThreadReasonLabel(ThreadReason reason);

/// A decision about one execution.
struct ThreadChoice {
  size_t rung = 0;  // a place in the ladder
  ThreadReason reason = ThreadReason::kFixed;
  /// A place that would be measured now if the framework were prepared for it.
  std::optional<size_t> prepare;
};

/// How the duration of a model's executions depends on the number of threads, learned while the
/// model serves. A pure object: no clock, no locks, no randomness.
///
/// The first executions use one thread. If they are long enough, each number that the load permits
/// is tried, from the largest down, until fewer threads are slower. Afterwards the fastest number
/// is used; of two that are equal within 5 %, the smaller one. From time to time a neighbour of it,
/// or the largest number, is measured again, because the machine may have got other work. All such
/// trials together cost 1 % of the time. The first ones come sooner: a first trial that something
/// disturbed would otherwise decide for seconds.
class ThreadCurve {
 public:
  /// Executions that are shorter with one thread stay there: waking other threads costs tens of
  /// microseconds.
  static constexpr uint64_t kWorthNs = 500'000;
  /// The number of executions that a trial measures. One more precedes them unmeasured if the
  /// number was never used before, because memory and threads are new then.
  static constexpr uint32_t kTrial = 3;
  /// A number must be faster by this factor to be preferred to a smaller one.
  static constexpr double kMargin = 1.05;
  /// The shortest time between two repeated trials.
  static constexpr uint64_t kRetrialNs = 2'000'000'000;
  /// A repeated trial that has lost t waits for at least this many times t.
  static constexpr uint64_t kRetrialFactor = 100;
  /// Both are divided by this number before the first repeated trial, then by half of it, and so
  /// on.
  static constexpr uint64_t kFirstHurry = 16;

  /// `rungs` is the length of the ladder, from 1 to kMaxRungs.
  explicit ThreadCurve(size_t rungs = 1) : rungs_(rungs) {}

  /// Decides about an execution that begins at `now_ns`. `allowed` is the highest place that the
  /// load permits, `prepared` has the places that the framework can use at once, including 0, and
  /// `failed` those that it will never be able to use.
  ThreadChoice Choose(size_t allowed, RungSet prepared, RungSet failed, uint64_t now_ns);

  /// Records an execution that had its CPUs to itself.
  void Record(size_t rung, uint64_t execution_ns, uint64_t now_ns);

  /// Returns whether the executions are so short that nothing needs to be decided.
  bool IsShort() const { return points_[0].settled && points_[0].mean_ns < kWorthNs; }
  /// Returns the mean duration with the number of threads at `rung`; 0 if it is unknown.
  uint64_t MeanNs(size_t rung) const { return static_cast<uint64_t>(points_[rung].mean_ns); }

 private:
  struct Point {
    double mean_ns = 0;  // moving
    uint32_t samples = 0;
    bool warm = false;
    bool settled = false;  // a trial has been completed
  };

  bool Known(size_t rung) const { return points_[rung].mean_ns > 0; }
  size_t Fastest(size_t allowed, RungSet prepared) const;
  std::optional<size_t> NextTrial(size_t allowed, RungSet failed) const;
  void MaybeMeasureAgain(size_t allowed, RungSet prepared, uint64_t now_ns);

  size_t rungs_;
  std::array<Point, kMaxRungs> points_;
  uint64_t next_retrial_ns_ = 0;
  uint64_t hurry_ = kFirstHurry;  // with which it was computed
  bool try_above_ = false;        // the direction of the last repeated trial
  bool try_far_ = false;          // whether the next one above tries the largest number
  double lost_ns_ = 0;            // by the trial that is in progress or was the last
};

}  // namespace nereid::model
