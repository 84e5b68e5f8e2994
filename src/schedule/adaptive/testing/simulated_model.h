// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "request/testing/make_model.h"
#include "schedule/adaptive/latency_objective.h"
#include "schedule/dynamic/dynamic_planner.h"

namespace nereid::schedule {

/// The duration of an execution by the size of its batch: the line between the nearest two points,
/// which ascend in size; beyond the last point, that of the last two.
class CostCurve {
 public:
  struct Point {
    double size = 0;
    double ms = 0;
  };

  CostCurve(double fixed_ms, double per_item_ms)
      : CostCurve({{1, fixed_ms + per_item_ms}, {2, fixed_ms + 2 * per_item_ms}}) {}
  explicit CostCurve(std::vector<Point> points) : points_(std::move(points)) {}

  double Ms(uint64_t size) const {
    const auto x = static_cast<double>(size);
    size_t right = 1;
    while (right + 1 < points_.size() && points_[right].size < x) ++right;
    const Point& a = points_[right - 1];
    const Point& b = points_[right];
    return a.ms + (x - a.size) * (b.ms - a.ms) / (b.size - a.size);
  }

 private:
  std::vector<Point> points_;
};

/// Who sends requests to a SimulatedModel. Either requests arrive at random, `per_second` of them
/// in the mean, or each of `clients` sends a request, waits for its answer, and sends the next one
/// `think_ms` later (± 20 %).
struct SimulatedLoad {
  double per_second = 0;
  int clients = 0;
  double think_ms = 0.05;
  CostCurve cost{2, 0.1};
  double noise = 0.1;  // an execution takes up to this fraction more or less
  int instances = 1;
  double seconds = 20;
  double unmeasured = 0.1;  // the part of the time at the beginning
  uint32_t seed = 1;
};

struct SimulatedOutcome {
  double p50_ms = 0;
  double p99_ms = 0;
  double busy = 0;  // part of the time in which an instance runs, mean of the instances
  double mean_batch = 0;
  double per_second = 0;  // answers
};

/// A simulated model with dynamic batching: the real planner, instances whose executions take the
/// time of a cost curve, and a clock that jumps from event to event. The first `unmeasured`
/// part of the time is not measured.
class SimulatedModel {
 public:
  static constexpr uint64_t kMaxBatchSize = 64;

  /// `batching`: the fields of dynamic_batching. `objective_us`: 0 for no latency objective.
  SimulatedModel(const std::string& batching, uint64_t objective_us, const SimulatedLoad& load)
      : SimulatedModel(batching,
                       objective_us == 0
                           ? nullptr
                           : std::make_shared<LatencyObjective>(objective_us * 1000, kMaxBatchSize),
                       load) {}
  /// `limits`: null for those of the configuration.
  SimulatedModel(const std::string& batching, std::shared_ptr<BatchLimits> limits,
                 const SimulatedLoad& load)
      : load_(load),
        random_(load.seed),
        model_(request::MakeModel("name: \"m\" max_batch_size: " + std::to_string(kMaxBatchSize) +
                                  " dynamic_batching { " + batching + " }")),
        limits_(std::move(limits)),
        instances_(static_cast<size_t>(load.instances)) {
    planner_ = std::make_unique<DynamicPlanner>(*model_->config, limits_);
  }

  SimulatedOutcome Run() {
    end_ns_ = Ns(load_.seconds * 1000);
    for (int i = 0; i < load_.clients; ++i) arrivals_.push(1 + ThinkNs());
    if (load_.clients == 0) arrivals_.push(GapNs());
    for (;;) {
      now_ns_ = NextEvent();
      if (now_ns_ >= end_ns_) return Summary();
      while (!arrivals_.empty() && arrivals_.top() <= now_ns_) Arrive();
      for (Instance& instance : instances_) {
        if (instance.busy && instance.free_at_ns <= now_ns_) End(instance);
      }
      wake_ns_ = kNever;
      for (Instance& instance : instances_) {
        if (!instance.busy) Plan(instance);
      }
    }
  }

 private:
  struct Instance {
    bool busy = false;
    uint64_t started_ns = 0, free_at_ns = 0;
    Batch batch;
  };
  static constexpr double kNsPerMs = 1e6;

  static uint64_t Ns(double ms) { return static_cast<uint64_t>(ms * kNsPerMs); }
  double Uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  uint64_t GapNs() {
    return 1 + Ns(1000 * std::exponential_distribution<double>(load_.per_second)(random_));
  }
  uint64_t ThinkNs() { return Ns(load_.think_ms * Uniform(0.8, 1.2)); }

  uint64_t NextEvent() const {
    uint64_t next = arrivals_.empty() ? kNever : arrivals_.top();
    bool idle = false;
    for (const Instance& instance : instances_) {
      if (instance.busy) next = std::min(next, instance.free_at_ns);
      idle = idle || !instance.busy;
    }
    return idle ? std::min(next, std::max(wake_ns_, now_ns_ + 1)) : next;
  }

  void Arrive() {
    auto request = std::make_unique<request::InferenceRequest>();
    request->batch_size = 1;
    request->times.queue_ns = arrivals_.top();
    arrivals_.pop();
    (void)planner_->Push(request, now_ns_);  // has no limit
    if (load_.clients == 0) arrivals_.push(now_ns_ + GapNs());
  }

  void End(Instance& instance) {
    if (limits_ != nullptr) {
      limits_->OnExecuted(instance.batch.batch_size,
                          instance.started_ns - instance.batch.oldest_arrival_ns,
                          now_ns_ - instance.started_ns, now_ns_);
    }
    for (const RequestPtr& request : instance.batch.requests) {
      if (now_ns_ > Ns(load_.unmeasured * load_.seconds * 1000))
        latencies_ns_.push_back(now_ns_ - request->times.queue_ns);
      if (load_.clients > 0) arrivals_.push(now_ns_ + ThinkNs());
    }
    instance.busy = false;
  }

  void Plan(Instance& instance) {
    std::vector<Refusal> refused;
    Decision decision = planner_->Next(now_ns_, 0, &refused);
    wake_ns_ = std::min(wake_ns_, decision.wake_ns);
    if (!decision.batch) return;
    instance.batch = std::move(*decision.batch);
    const uint64_t size = instance.batch.batch_size;
    instance.busy = true;
    instance.started_ns = now_ns_;
    instance.free_at_ns =
        now_ns_ + Ns(load_.cost.Ms(size) * Uniform(1 - load_.noise, 1 + load_.noise));
    busy_ns_ += instance.free_at_ns - now_ns_;
    ++batches_;
    items_ += size;
  }

  SimulatedOutcome Summary() {
    std::sort(latencies_ns_.begin(), latencies_ns_.end());
    const auto at = [this](double q) {
      if (latencies_ns_.empty()) return 0.0;
      const double last = static_cast<double>(latencies_ns_.size() - 1);
      return static_cast<double>(latencies_ns_[static_cast<size_t>(q * last)]) / kNsPerMs;
    };
    const double all_ns = static_cast<double>(end_ns_) * load_.instances;
    return {at(0.5), at(0.99), static_cast<double>(busy_ns_) / all_ns,
            static_cast<double>(items_) / static_cast<double>(batches_),
            static_cast<double>(latencies_ns_.size()) / ((1 - load_.unmeasured) * load_.seconds)};
  }

  const SimulatedLoad load_;
  std::mt19937 random_;
  std::shared_ptr<const request::ModelIdentity> model_;
  std::shared_ptr<BatchLimits> limits_;  // null for those of the configuration
  std::unique_ptr<DynamicPlanner> planner_;
  std::vector<Instance> instances_;
  std::priority_queue<uint64_t, std::vector<uint64_t>, std::greater<>> arrivals_;
  uint64_t now_ns_ = 0, end_ns_ = 0, wake_ns_ = kNever, busy_ns_ = 0, batches_ = 0, items_ = 0;
  std::vector<uint64_t> latencies_ns_;
};

}  // namespace nereid::schedule
