// SPDX-License-Identifier: Apache-2.0
// The numbers of the models over time: two minutes in steps of a second, an hour in steps of ten.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "telemetry/model_statistics.h"

namespace nereid::console {

/// What happened to one model version in one step.
struct Point {
  uint64_t time_ms = 0;  // of the end of the step, since the Unix epoch
  // Per second.
  float requests = 0, failures = 0, inferences = 0, executions = 0;
  // Latencies of the successful requests that ended in the step, in microseconds; 0 without any.
  float p50_us = 0, p90_us = 0, p99_us = 0;
  // Means over the same requests, in microseconds.
  float queue_us = 0, compute_us = 0;
  float pending = 0;  // requests that waited for the backend at the end of the step
};

/// The numbers of a model version that only grow, at one moment.
struct Totals {
  uint64_t time_ns = 0;  // monotonic
  uint64_t requests = 0, failures = 0, inferences = 0, executions = 0;
  uint64_t queue_ns = 0, compute_ns = 0;
  std::vector<uint64_t> latency_counts = {};  // of telemetry/latency_buckets.h, or empty

  static Totals Of(const telemetry::ModelStatistics& statistics, uint64_t time_ns);
};

/// Returns what happened between two readings of the same model version. If a number is smaller in
/// the second one, the version was loaded again in between, and everything counts that happened
/// since. `time_ms` and `pending` are those of the point.
Point Between(const Totals& before, const Totals& after, uint64_t time_ms, uint64_t pending);

/// The last points, at most kSize of them.
template <size_t kSize>
class PointRing {
 public:
  void Add(const Point& point) { points_[count_++ % kSize] = point; }
  bool empty() const { return count_ == 0; }
  const Point& newest() const { return points_[(count_ - 1) % kSize]; }

  /// Returns the points from old to new, the last `most` of them.
  std::vector<Point> List(size_t most = kSize) const {
    const size_t kept = count_ < kSize ? count_ : kSize;
    std::vector<Point> list;
    list.reserve(kept < most ? kept : most);
    for (size_t i = count_ - (kept < most ? kept : most); i < count_; ++i) {
      list.push_back(points_[i % kSize]);
    }
    return list;
  }

 private:
  std::array<Point, kSize> points_{};
  size_t count_ = 0;
};

/// The series of the models. The memory is bounded: kMaxSeries series of fixed size. Models beyond
/// that have none. The series of a model that was unloaded stays for an hour, or until its place is
/// needed. Thread-safe.
class SeriesStore {
 public:
  static constexpr size_t kMaxSeries = 256;
  static constexpr size_t kSeconds = 120;     // points of one second
  static constexpr size_t kTenSeconds = 360;  // points of ten seconds
  /// The points of one second that All() returns.
  static constexpr size_t kRecent = 60;

  /// The series of one model version. `ten_seconds` is empty in All().
  struct Series {
    std::string model, version;
    bool is_loaded = false;  // it was in the last reading
    std::vector<Point> seconds, ten_seconds;
  };
  /// The last point of a loaded model version.
  struct Newest {
    std::string model, version;
    Point point;
  };

  /// Adds the readings of all models that are loaded, and with them a point to each series. The
  /// first reading of a model only begins its series. `now_ns` is monotonic, `time_ms` since the
  /// Unix epoch.
  void Add(const std::vector<telemetry::ModelStatistics>& statistics, uint64_t now_ns,
           uint64_t time_ms);

  std::vector<Newest> NewestPoints() const;
  std::vector<Series> All() const;
  /// Returns the whole series of all versions of a model.
  std::vector<Series> Of(const std::string& model) const;
  /// Returns how many loaded model versions have no series.
  size_t omitted() const;

 private:
  struct Kept {
    Totals last, last_of_ten;
    uint64_t seen_ns = 0;
    PointRing<kSeconds> seconds;
    PointRing<kTenSeconds> ten_seconds;
  };
  using Key = std::pair<std::string, std::string>;  // model and version

  /// Returns the series, or null if there is no room for it.
  Kept* FindOrAdd(const Key& key, uint64_t now_ns) NEREID_REQUIRES(mutex_);
  void DropOld(uint64_t now_ns) NEREID_REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  std::map<Key, std::unique_ptr<Kept>> series_ NEREID_GUARDED_BY(mutex_);
  uint64_t last_ns_ NEREID_GUARDED_BY(mutex_) = 0;  // of the last reading
  size_t omitted_ NEREID_GUARDED_BY(mutex_) = 0;
};

}  // namespace nereid::console
