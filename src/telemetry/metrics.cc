// SPDX-License-Identifier: Apache-2.0
#include "telemetry/metrics.h"

#include <algorithm>

namespace nereid::telemetry {

template <typename T>
base::Result<std::shared_ptr<Family<T>>> Registry::GetFamily(MetricKind kind, std::string_view name,
                                                             std::string_view help) {
  const std::string wanted(name);
  if (!IsValidMetricName(wanted)) {
    return base::Status::InvalidArgument(
        "'" + wanted +
        "' is not a metric name: expected letters, digits, '_' and ':', and no digit in front");
  }
  // Declared before the lock: if this function holds the last reference to a family, the family is
  // destroyed after mutex_ is released.
  std::vector<std::shared_ptr<MetricFamily>> visited;
  const base::MutexLock lock(mutex_);
  std::erase_if(families_, [](const auto& family) { return family.expired(); });
  for (const auto& entry : families_) {
    std::shared_ptr<MetricFamily> family = entry.lock();
    if (family == nullptr) continue;
    visited.push_back(family);
    if (family->name() != wanted) continue;
    if (family->kind() != kind) {
      return base::Status::InvalidArgument("metric family '" + wanted + "' exists as a " +
                                           std::string(MetricKindName(family->kind())) +
                                           " and cannot be a " + std::string(MetricKindName(kind)) +
                                           " as well");
    }
    return std::static_pointer_cast<Family<T>>(family);
  }
  auto family = std::make_shared<Family<T>>(kind, wanted, std::string(help));
  families_.push_back(family);
  return family;
}

base::Result<std::shared_ptr<CounterFamily>> Registry::Counters(std::string_view name,
                                                                std::string_view help) {
  return GetFamily<Counter>(MetricKind::kCounter, name, help);
}

base::Result<std::shared_ptr<GaugeFamily>> Registry::Gauges(std::string_view name,
                                                            std::string_view help) {
  return GetFamily<Gauge>(MetricKind::kGauge, name, help);
}

base::Result<std::shared_ptr<HistogramFamily>> Registry::Histograms(std::string_view name,
                                                                    std::string_view help) {
  return GetFamily<Histogram>(MetricKind::kHistogram, name, help);
}

Registry::CollectorId Registry::AddCollector(Collector collector) {
  auto slot = std::make_shared<CollectorSlot>(std::move(collector));
  const base::MutexLock lock(mutex_);
  slot->id = next_collector_id_++;
  collectors_.push_back(slot);
  return slot->id;
}

void Registry::RemoveCollector(CollectorId id) {
  std::shared_ptr<CollectorSlot> slot;
  {
    const base::MutexLock lock(mutex_);
    const auto found = std::find_if(collectors_.begin(), collectors_.end(),
                                    [id](const auto& entry) { return entry->id == id; });
    if (found == collectors_.end()) return;
    // slot->mutex is locked after mutex_ is released: a running collector may ask the registry for
    // families, which locks mutex_.
    slot = std::move(*found);
    collectors_.erase(found);
  }
  const base::MutexLock lock(slot->mutex);  // waits for a scrape that is running the collector
  slot->collect = nullptr;
}

// mutex_ is held only to copy the lists. Families and collectors write without it, because a
// collector may call the registry, and because a slow page must not block the creation of metrics.
// Lock order: a slot's mutex before mutex_.
std::string Registry::Render(Exposition exposition) {
  std::vector<std::shared_ptr<MetricFamily>> families;
  std::vector<std::shared_ptr<CollectorSlot>> collectors;
  {
    const base::MutexLock lock(mutex_);
    for (const auto& entry : families_) {
      if (std::shared_ptr<MetricFamily> family = entry.lock()) {
        families.push_back(std::move(family));
      }
    }
    collectors = collectors_;
  }
  MetricWriter writer(exposition);
  for (const auto& family : families) family->Write(writer);
  for (const auto& slot : collectors) {
    const base::MutexLock lock(slot->mutex);
    if (slot->collect) slot->collect(writer);
  }
  return writer.Text();
}

}  // namespace nereid::telemetry
