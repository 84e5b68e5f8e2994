// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "telemetry/instruments.h"
#include "telemetry/labels.h"
#include "telemetry/metric_writer.h"

namespace nereid::telemetry {

/// A metric family: a name, a kind, a help text, and metrics that differ in their labels.
class MetricFamily {
 public:
  MetricFamily(MetricKind kind, std::string name, std::string help)
      : kind_(kind), name_(std::move(name)), help_(std::move(help)) {}
  virtual ~MetricFamily() = default;
  MetricFamily(const MetricFamily&) = delete;
  MetricFamily& operator=(const MetricFamily&) = delete;

  MetricKind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  const std::string& help() const { return help_; }

  /// Writes the metrics that exist at the time of the call, sorted by labels.
  virtual void Write(MetricWriter& writer) = 0;

 private:
  const MetricKind kind_;
  const std::string name_;
  const std::string help_;
};

/// A family of instruments of type T (Counter, Gauge, Histogram). May be used from any thread.
template <typename T>
class Family : public MetricFamily, public std::enable_shared_from_this<Family<T>> {
 public:
  using MetricFamily::MetricFamily;

  /// Returns the metric with these labels: the existing one, or a new one made from `arguments`
  /// (the bounds of a histogram). The metric is written as long as somebody holds the pointer; when
  /// a model is unloaded, dropping the pointer removes its metrics. A metric keeps its family
  /// alive. INVALID_ARG for an invalid label name.
  template <typename... Arguments>
  base::Result<std::shared_ptr<T>> Get(const Labels& labels, Arguments&&... arguments) {
    NEREID_RETURN_IF_ERROR(labels.Validate());
    const base::MutexLock lock(mutex_);
    std::weak_ptr<T>& child = children_[labels.text()].metric;
    if (std::shared_ptr<T> live = child.lock()) return live;
    struct Holder {
      std::shared_ptr<Family> family;
      T metric;
      Holder(std::shared_ptr<Family> f, Arguments&&... a)
          : family(std::move(f)), metric(std::forward<Arguments>(a)...) {}
    };
    auto holder =
        std::make_shared<Holder>(this->shared_from_this(), std::forward<Arguments>(arguments)...);
    // An aliasing pointer: it points to the metric and keeps the holder, and with it the family,
    // alive. The family has only weak pointers to its metrics, so there is no cycle.
    std::shared_ptr<T> made(holder, &holder->metric);
    children_[labels.text()] = {labels, made};
    return made;
  }

  void Write(MetricWriter& writer) override {
    // Keeps the metrics alive until they are written. Released after the lock, because destroying
    // the last metric may destroy this family with its mutex.
    std::vector<std::pair<Labels, std::shared_ptr<T>>> live;
    {
      const base::MutexLock lock(mutex_);
      for (auto it = children_.begin(); it != children_.end();) {
        if (std::shared_ptr<T> metric = it->second.metric.lock()) {
          live.emplace_back(it->second.labels, std::move(metric));
          ++it;
        } else {
          it = children_.erase(it);
        }
      }
    }
    if (live.empty()) return;
    FamilyWriter& family = writer.Family(kind(), name(), help());
    for (const auto& [labels, metric] : live) WriteOne(family, labels, *metric);
  }

 private:
  struct Child {
    Labels labels;
    std::weak_ptr<T> metric;
  };
  static void WriteOne(FamilyWriter& family, const Labels& labels, const Counter& metric) {
    family.Sample(labels, metric);
  }
  static void WriteOne(FamilyWriter& family, const Labels& labels, const Gauge& metric) {
    family.Sample(labels, metric.value());
  }
  static void WriteOne(FamilyWriter& family, const Labels& labels, const Histogram& metric) {
    family.Sample(labels, metric.Snapshot());
  }

  base::Mutex mutex_;
  std::map<std::string, Child> children_ NEREID_GUARDED_BY(mutex_);  // by label text
};

using CounterFamily = Family<Counter>;
using GaugeFamily = Family<Gauge>;
using HistogramFamily = Family<Histogram>;

/// The metrics of one server. Families hold their own values. Collectors are called at each scrape
/// and read values that other objects keep, such as the statistics of a model. Each server has one
/// registry, which is passed to its users. May be used from any thread.
class Registry {
 public:
  Registry() = default;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// Returns the family with this name and kind: the existing one, which keeps its help text, or a
  /// new one. A family lives as long as somebody holds it or one of its metrics. INVALID_ARG for an
  /// invalid name, or if the name exists with another kind.
  base::Result<std::shared_ptr<CounterFamily>> Counters(std::string_view name,
                                                        std::string_view help);
  base::Result<std::shared_ptr<GaugeFamily>> Gauges(std::string_view name, std::string_view help);
  base::Result<std::shared_ptr<HistogramFamily>> Histograms(std::string_view name,
                                                            std::string_view help);

  using Collector = std::function<void(MetricWriter&)>;
  using CollectorId = uint64_t;

  /// Adds a function that writes metrics at each scrape. It is called by the scraping thread, by
  /// one thread at a time, after the families and in the order of addition. It must not block for
  /// long and must not add or remove collectors.
  CollectorId AddCollector(Collector collector);

  /// Removes a collector. When this function returns, the collector is not running and will not run
  /// again. An unknown id is ignored.
  void RemoveCollector(CollectorId id);

  /// Returns the page of one scrape.
  std::string Render(Exposition exposition = Exposition::kPrometheusText);

 private:
  struct CollectorSlot {
    explicit CollectorSlot(Collector collector) : collect(std::move(collector)) {}
    CollectorId id = 0;
    base::Mutex mutex;                           // held while the collector runs
    Collector collect NEREID_GUARDED_BY(mutex);  // empty once removed
  };
  template <typename T>
  base::Result<std::shared_ptr<Family<T>>> GetFamily(MetricKind kind, std::string_view name,
                                                     std::string_view help);

  base::Mutex mutex_;  // not held while a family or a collector writes
  // In order of registration.
  std::vector<std::weak_ptr<MetricFamily>> families_ NEREID_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<CollectorSlot>> collectors_ NEREID_GUARDED_BY(mutex_);
  CollectorId next_collector_id_ NEREID_GUARDED_BY(mutex_) = 1;
};

/// Adds a collector and removes it when the object is destroyed. The registry must outlive the
/// object.
class ScopedCollector {
 public:
  ScopedCollector(Registry& registry, Registry::Collector collector)
      : registry_(registry), id_(registry.AddCollector(std::move(collector))) {}
  ~ScopedCollector() { registry_.RemoveCollector(id_); }
  ScopedCollector(const ScopedCollector&) = delete;
  ScopedCollector& operator=(const ScopedCollector&) = delete;

 private:
  Registry& registry_;
  const Registry::CollectorId id_;
};

}  // namespace nereid::telemetry
