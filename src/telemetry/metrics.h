// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "telemetry/instruments.h"
#include "telemetry/labels.h"
#include "telemetry/metric_writer.h"

namespace nereid::telemetry {

/// A name, a kind, a help text, and children told apart by their labels.
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

  /// Writes the children that live now, sorted by their labels.
  virtual void Write(MetricWriter& writer) = 0;

 private:
  const MetricKind kind_;
  const std::string name_;
  const std::string help_;
};

/// The family of instruments T (Counter, Gauge, Histogram). Any thread.
template <typename T>
class Family : public MetricFamily, public std::enable_shared_from_this<Family<T>> {
 public:
  using MetricFamily::MetricFamily;

  /// The child with these labels: the one that lives, or a new one made from `arguments` (a
  /// histogram's bounds, which count for a new one only). It is printed as long as somebody holds
  /// it, and holds its family; when a model goes, dropping the pointer removes the child.
  /// INVALID_ARGUMENT for a bad label name.
  template <typename... Arguments>
  base::Result<std::shared_ptr<T>> Get(const Labels& labels, Arguments&&... arguments) {
    NEREID_RETURN_IF_ERROR(labels.Validate());
    std::lock_guard lock(mutex_);
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
    std::shared_ptr<T> made(holder, &holder->metric);
    children_[labels.text()] = {labels, made};
    return made;
  }

  void Write(MetricWriter& writer) override {
    // Held outside the lock until written: a child's end may be this family's end.
    std::vector<std::pair<Labels, std::shared_ptr<T>>> live;
    {
      std::lock_guard lock(mutex_);
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

  std::mutex mutex_;
  std::map<std::string, Child> children_;  // by label text; guarded by mutex_
};

using CounterFamily = Family<Counter>;
using GaugeFamily = Family<Gauge>;
using HistogramFamily = Family<Histogram>;

/// The metrics of one server: families that hold their own numbers, and collectors, which are asked
/// at the moment of a scrape and read numbers that others keep (a model's statistics). One per
/// server, passed in where it is needed. Any thread.
class Registry {
 public:
  Registry() = default;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// The family of that name and kind: the one that lives (its help text stays), or a new one,
  /// which lives as long as somebody holds it or one of its children. INVALID_ARGUMENT for a bad
  /// name, or a name that stands with another kind.
  base::Result<std::shared_ptr<CounterFamily>> Counters(std::string_view name,
                                                        std::string_view help);
  base::Result<std::shared_ptr<GaugeFamily>> Gauges(std::string_view name, std::string_view help);
  base::Result<std::shared_ptr<HistogramFamily>> Histograms(std::string_view name,
                                                            std::string_view help);

  using Collector = std::function<void(MetricWriter&)>;
  using CollectorId = uint64_t;

  /// `collector` is called by the thread that scrapes, one scrape at a time, in the order of
  /// addition and after the families. It must not block long, nor add or remove collectors.
  CollectorId AddCollector(Collector collector);

  /// When this returns the collector is not running and will not run again. An unknown id is
  /// ignored.
  void RemoveCollector(CollectorId id);

  /// One scrape: the page of the text exposition format.
  std::string Render();

 private:
  struct CollectorSlot {
    CollectorId id;
    std::mutex mutex;   // held while the collector runs
    Collector collect;  // guarded by mutex; empty once removed
  };
  template <typename T>
  base::Result<std::shared_ptr<Family<T>>> GetFamily(MetricKind kind, std::string_view name,
                                                     std::string_view help);

  std::mutex mutex_;  // guards what follows; not held while a family or a collector writes
  std::vector<std::weak_ptr<MetricFamily>> families_;  // in order of registration
  std::vector<std::shared_ptr<CollectorSlot>> collectors_;
  CollectorId next_collector_id_ = 1;
};

/// Removes its collector when it goes out of scope; the registry must live longer.
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
