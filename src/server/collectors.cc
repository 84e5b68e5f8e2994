// SPDX-License-Identifier: Apache-2.0
#include "server/collectors.h"

#include <utility>

#include "base/clock.h"
#include "memory/gpu/gpu_pools.h"
#include "server/gpu_metrics.h"
#include "server/gpu_pool_metrics.h"
#include "server/load_metrics.h"
#include "server/mirror_metrics.h"
#include "server/model_metrics.h"
#include "server/model_rollouts.h"
#include "server/refused_metrics.h"
#include "server/residency/model_residency.h"
#include "server/residency/residency_metrics.h"
#include "server/rollout_metrics.h"
#include "server/served_model.h"
#include "server/watchdog_metrics.h"

namespace nereid::server {

using repository::VersionState;

Collectors::~Collectors() = default;

Collectors::Collectors(const ServerSettings& settings, telemetry::Registry& metrics,
                       const device::Gpus& gpus, const repository::ModelLifecycle& lifecycle,
                       const repository::RemoteStorage& remote, const ModelRollouts& rollouts,
                       ModelResidency* residency, const watchdog::Watchdog* watchdog,
                       const api::RefusedRequests& refused) {
  if (watchdog != nullptr) {
    watchdog_ = std::make_unique<telemetry::ScopedCollector>(
        metrics, [watchdog](telemetry::MetricWriter& writer) {
          WriteWatchdogMetrics(watchdog->counts(), watchdog->Findings(), writer);
        });
  }
  telemetry::ProcessMetricsOptions options;
  options.cpu = settings.cpu_metrics_enabled;
  options.interval_ms = settings.metrics_interval_ms;
  options.pinned_pool = [] {
    const memory::PoolUse use = memory::GpuPools::Get().PinnedUse();
    return telemetry::PoolUse{use.total_bytes, use.used_bytes};
  };
  gpu_pools_ = std::make_unique<telemetry::ScopedCollector>(
      metrics, [&gpus](telemetry::MetricWriter& writer) {
        WriteGpuPoolMetrics(memory::GpuPools::Get().GpuUses(), gpus, writer);
      });
  process_ = std::make_unique<telemetry::ProcessMetrics>(metrics, options);
  if (settings.gpu_metrics_enabled) {
    gpus_ = GpuMetrics::Create(metrics, gpus, settings.metrics_interval_ms);
  }
  const bool with_durations = MetricsSwitch(settings, "counter_latencies", true);
  const bool with_summaries = MetricsSwitch(settings, "summary_latencies", false);
  SummaryForm form{SummaryQuantiles(settings)};
  models_ = std::make_unique<telemetry::ScopedCollector>(
      metrics, [&lifecycle, with_durations, with_summaries,
                form = std::move(form)](telemetry::MetricWriter& writer) mutable {
        form.now_ns = base::SteadyClock().NowNs();
        const auto table = lifecycle.Table();
        for (const auto& [id, versions] : table->models()) {
          for (const auto& [number, record] : versions) {
            if (record.state() != VersionState::kReady) continue;
            ServedModel& served = ServedModel::Of(record);
            const telemetry::ModelStatistics statistics = served.version().Statistics();
            const telemetry::Labels labels =
                ModelLabels(statistics, id.space, served.config().metric_tags());
            WriteModelMetrics(statistics, labels, with_durations, writer);
            WriteLoadDuration(served.load_ns(), labels, writer);
            if (!with_summaries) continue;
            WriteModelSummaries(statistics, served.version().Summaries(), form, labels, writer);
          }
        }
      });
  loads_ = std::make_unique<telemetry::ScopedCollector>(
      metrics, [&lifecycle](telemetry::MetricWriter& writer) {
        for (const auto& [id, record] : lifecycle.board().List()) {
          WriteLoadMetrics(id, record, writer);
        }
      });
  mirror_ = std::make_unique<telemetry::ScopedCollector>(
      metrics, [&remote](telemetry::MetricWriter& writer) {
        if (const auto* mirror = remote.UsedMirror()) WriteMirrorMetrics(*mirror, writer);
      });
  rollouts_ = std::make_unique<telemetry::ScopedCollector>(
      metrics, [&rollouts](telemetry::MetricWriter& writer) {
        for (const auto& status : rollouts.List()) WriteRolloutMetrics(status, writer);
      });
  refused_ = std::make_unique<telemetry::ScopedCollector>(
      metrics,
      [&refused](telemetry::MetricWriter& writer) { WriteRefusedMetrics(refused, writer); });
  if (residency != nullptr) {
    residency_ = std::make_unique<telemetry::ScopedCollector>(
        metrics, [residency](telemetry::MetricWriter& writer) {
          WriteResidencyMetrics(residency->Numbers(), residency->known().Hits(),
                                residency->accounts().List(), writer);
        });
  }
}

}  // namespace nereid::server
