// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "telemetry/instruments.h"
#include "telemetry/sequence_statistics.h"

namespace nereid::telemetry {

/// A number of events and their total duration in nanoseconds.
struct StatisticDuration {
  uint64_t count = 0;
  uint64_t ns = 0;

  void Add(uint64_t duration_ns) {
    ++count;
    ns += duration_ns;
  }
  void Merge(const StatisticDuration& other) {
    count += other.count;
    ns += other.ns;
  }
};

struct InferStatistics {
  StatisticDuration success, fail, queue, compute_input, compute_infer, compute_output, cache_hit,
      cache_miss;

  void Merge(const InferStatistics& other) {
    success.Merge(other.success);
    fail.Merge(other.fail);
    queue.Merge(other.queue);
    compute_input.Merge(other.compute_input);
    compute_infer.Merge(other.compute_infer);
    compute_output.Merge(other.compute_output);
    cache_hit.Merge(other.cache_hit);
    cache_miss.Merge(other.cache_miss);
  }
};

/// What the instances on one GPU have counted.
struct GpuPart {
  uint64_t inference_count = 0;
  uint64_t execution_count = 0;
  InferStatistics inference_stats;
};

/// By the UUID of the GPU.
using GpuParts = std::map<std::string, GpuPart>;

struct ResponseStatistics {
  StatisticDuration compute_infer, compute_output, success, fail, empty_response, cancel;
};

struct BatchStatistics {
  uint64_t batch_size = 0;
  StatisticDuration compute_input, compute_infer, compute_output;
};

struct MemoryUsage {
  std::string type;  // "CPU", "CPU_PINNED", "GPU"
  int64_t id = 0;
  uint64_t byte_size = 0;
};

/// The reason why a request failed, as in the label of nv_inference_request_failure.
enum class FailureReason { kRejected = 0, kCanceled = 1, kBackend = 2, kOther = 3 };
inline constexpr std::array<const char*, 4> kFailureReasonNames = {"REJECTED", "CANCELED",
                                                                   "BACKEND", "OTHER"};

/// The threads of a model's executions on the CPU.
struct CpuThreads {
  struct Number {
    int threads = 0;
    uint64_t decisions = 0;  // for this number; short executions are not all decided about
    uint64_t mean_ns = 0;    // of executions of the last size; 0 if it is unknown
  };
  int last = 0;             // the last decision
  std::string_view reason;  // of the last decision; a constant
  std::vector<Number> by_number;
};

/// The statistics of one model version since it was loaded. Both the statistics extension and the
/// metrics are made from them.
struct ModelStatistics {
  std::string name;
  std::string version;
  uint64_t last_inference_ms = 0;  // milliseconds since the epoch; 0 if there was none
  uint64_t inference_count = 0;
  uint64_t execution_count = 0;
  InferStatistics inference_stats;
  /// The parts of these numbers that instances on GPUs have counted.
  GpuParts on_gpus;
  std::vector<std::pair<std::string, ResponseStatistics>> response_stats;  // by key
  std::vector<BatchStatistics> batch_stats;                                // by batch size
  std::vector<MemoryUsage> memory_usage;
  std::array<uint64_t, 4> failures_by_reason{};  // by FailureReason
  /// The reasons why batches were closed, with the number of batches for each. Every reason is
  /// listed. Empty for a model without a scheduler.
  std::vector<std::pair<std::string, uint64_t>> batches_closed;
  /// The times of successful requests from arrival to completion, in the buckets of
  /// latency_buckets.h. Empty unless the server keeps them (model::LatencyDetail).
  std::vector<uint64_t> latency_counts;
  uint64_t pending_requests = 0;
  struct AdaptiveBatching {
    uint64_t objective_us = 0;  // 0 without a latency objective
    uint64_t size_limit = 0;    // the current limit of the batch size; 0 if the server learns none
  };
  AdaptiveBatching adaptive_batching;
  /// Absent without a CPU plan and for models on GPUs only.
  std::optional<CpuThreads> cpu_threads;
  /// Absent for a model without sequences.
  std::optional<SequenceStatistics> sequences;
  /// Milliseconds. Absent if the server keeps no histograms.
  std::optional<HistogramSnapshot> first_response_ms;
  bool response_cache = false;  // the model requests caching, whether or not the server has a cache
};

}  // namespace nereid::telemetry
