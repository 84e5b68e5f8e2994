// SPDX-License-Identifier: Apache-2.0
#include "telemetry/latency_summary.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <new>

namespace nereid::telemetry {
namespace {

constexpr uint64_t kStepNs = 12'000'000'000;
constexpr uint32_t kBucketBits = 7;

struct Place {
  uint32_t octave;
  uint32_t bucket;
};

/// Returns the bucket of a value. Octave 0 holds the numbers below 2^7, one in each bucket. Octave
/// s + 1 holds the numbers from 2^7 << s up to 2^8 << s in 128 buckets of 2^s numbers each.
Place PlaceOf(uint64_t value) {
  if (value >> kBucketBits == 0) return {0, static_cast<uint32_t>(value)};
  const auto shift = static_cast<uint32_t>(std::bit_width(value)) - kBucketBits - 1;
  return {shift + 1, static_cast<uint32_t>((value >> shift) - (uint64_t{1} << kBucketBits))};
}

/// Returns the middle of a bucket.
double ValueAt(uint32_t octave, uint32_t bucket) {
  if (octave == 0) return bucket;
  const uint32_t shift = octave - 1;
  const uint64_t width = uint64_t{1} << shift;
  return static_cast<double>(((uint64_t{1} << kBucketBits) + bucket) << shift) +
         static_cast<double>((width - 1) / 2);
}

}  // namespace

LatencySummary::Octave& LatencySummary::Step::FindOrAdd(uint32_t index) {
  const auto found = std::find_if(octaves.begin(), octaves.end(),
                                  [index](const Octave& octave) { return octave.index == index; });
  if (found != octaves.end()) return *found;
  return octaves.emplace_back(Octave{index, {}});
}

// The steps form a ring. A step that begins reuses the slot of the step that is one minute older.
// An observation may be late, because its time was read before another thread's: it must not clear
// a newer step.
LatencySummary::Step* LatencySummary::Begin(uint64_t number) {
  Step& step = steps_[number % kSteps];
  if (number < step.number) return nullptr;
  if (number > step.number) {
    step.number = number;
    step.octaves.clear();
  }
  return &step;
}

void LatencySummary::Observe(uint64_t value, uint64_t now_ns) noexcept {
  ++count_;
  sum_ += value;
  Step* const step = Begin(now_ns / kStepNs);
  if (step == nullptr) return;
  const Place place = PlaceOf(value);
  try {
    ++step->FindOrAdd(place.octave).counts[place.bucket];
  } catch (const std::bad_alloc&) {
    // The observation is missing from the quantiles; count and sum include it.
  }
}

void LatencySummary::Merge(const LatencySummary& other) {
  count_ += other.count_;
  sum_ += other.sum_;
  for (const Step& from : other.steps_) {
    Step* const to = Begin(from.number);
    if (to == nullptr) continue;
    for (const Octave& octave : from.octaves) {
      Octave& sum = to->FindOrAdd(octave.index);
      for (size_t i = 0; i < kBuckets; ++i) sum.counts[i] += octave.counts[i];
    }
  }
}

SummarySnapshot LatencySummary::Snapshot(const std::vector<double>& quantiles,
                                         uint64_t now_ns) const {
  const uint64_t now = now_ns / kStepNs;
  std::map<uint32_t, std::array<uint64_t, kBuckets>> counts;  // by octave
  uint64_t total = 0;
  for (const Step& step : steps_) {
    if (step.number + kSteps <= now) continue;
    for (const Octave& octave : step.octaves) {
      auto& sums = counts[octave.index];
      for (size_t i = 0; i < kBuckets; ++i) {
        sums[i] += octave.counts[i];
        total += octave.counts[i];
      }
    }
  }
  const auto value_of = [&](double quantile) {
    // The value at rank ceil(quantile * total), counted from 1.
    const double wanted = std::ceil(std::clamp(quantile, 0.0, 1.0) * static_cast<double>(total));
    const uint64_t rank = std::max<uint64_t>(1, static_cast<uint64_t>(wanted));
    uint64_t seen = 0;
    for (const auto& [octave, sums] : counts) {
      for (uint32_t i = 0; i < kBuckets; ++i) {
        seen += sums[i];
        if (seen >= rank) return ValueAt(octave, i);
      }
    }
    return std::numeric_limits<double>::quiet_NaN();
  };
  SummarySnapshot snapshot{count_, sum_, {}};
  for (const double quantile : quantiles) {
    snapshot.quantiles.emplace_back(quantile, value_of(quantile));
  }
  return snapshot;
}

void LatencySummaries::Merge(const LatencySummaries& other) {
  request.Merge(other.request);
  queue.Merge(other.queue);
  compute_input.Merge(other.compute_input);
  compute_infer.Merge(other.compute_infer);
  compute_output.Merge(other.compute_output);
  cache_hit.Merge(other.cache_hit);
  cache_miss.Merge(other.cache_miss);
}

}  // namespace nereid::telemetry
