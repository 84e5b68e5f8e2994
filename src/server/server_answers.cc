// SPDX-License-Identifier: Apache-2.0
// The queries of InferenceService: metadata, configuration, statistics, index, metrics.
#include "server/inference_server.h"
#include "server/model_metrics.h"
#include "server/repository_parts.h"

namespace nereid::server {

using base::Status;
using repository::VersionRecord;
using repository::VersionState;

namespace {

std::vector<api::TensorMetadata> Describe(const config::ModelConfig& config,
                                          const std::vector<config::TensorSpec>& tensors) {
  std::vector<api::TensorMetadata> described;
  for (const config::TensorSpec& spec : tensors) {
    described.push_back(
        {spec.name, std::string(tensor::DataTypeName(spec.data_type)), config.FullShape(spec)});
  }
  return described;
}

ServedModel& ServedOf(const VersionRecord& record) {
  return static_cast<ServedModel&>(*record.model);
}

}  // namespace

std::string_view ServerVersion() { return "2.51.0"; }

std::vector<std::string> ServerExtensions() {
  // Triton's list in Triton's order, and "generate", which Triton does not list.
  return {"classification",
          "sequence",
          "model_repository",
          "model_repository(unload_dependents)",
          "schedule_policy",
          "model_configuration",
          "binary_tensor_data",
          "parameters",
          "statistics",
          "trace",
          "logging",
          "generate"};
}

api::ServerMetadata InferenceServer::GetServerMetadata() {
  return {settings_.server_id, std::string(ServerVersion()), ServerExtensions()};
}

base::Result<api::ModelMetadata> InferenceServer::GetModelMetadata(const std::string& name,
                                                                   int64_t version) {
  const auto table = repository_->lifecycle.Table();
  NEREID_ASSIGN_OR_RETURN(const repository::ModelId id, table->Resolve(name));
  NEREID_ASSIGN_OR_RETURN(auto loaded, table->Find(id, version));
  const auto served = ServedModel::From(std::move(loaded));
  const config::ModelConfig& config = served->config();
  api::ModelMetadata metadata;
  metadata.name = name;
  if (version >= 0) {
    metadata.versions.push_back(std::to_string(version));
  } else if (const auto* versions = table->FindVersions(id)) {
    for (const auto& [number, record] : *versions) {
      if (record.state == VersionState::kReady) {
        metadata.versions.push_back(std::to_string(number));
      }
    }
  }
  metadata.platform = config.platform().empty() ? config.backend() : config.platform();
  metadata.inputs = Describe(config, config.inputs());
  metadata.outputs = Describe(config, config.outputs());
  return metadata;
}

base::Result<std::shared_ptr<const config::ModelConfig>> InferenceServer::GetModelConfig(
    const std::string& name, int64_t version) {
  NEREID_ASSIGN_OR_RETURN(auto loaded, repository_->lifecycle.Table()->Find(name, version));
  return ServedModel::From(std::move(loaded))->identity().config;
}

base::Result<std::vector<api::ModelStatistics>> InferenceServer::GetModelStatistics(
    const std::string& name, int64_t version) {
  NEREID_RETURN_IF_ERROR(CheckServing());
  const auto table = repository_->lifecycle.Table();
  std::vector<api::ModelStatistics> statistics;
  bool known = name.empty();
  const auto asked = table->Resolve(name);
  if (!known && !asked.ok()) {
    return Status::InvalidArgument("requested model '" + name +
                                   "' is not available: " + asked.status().message());
  }
  for (const auto& [id, versions] : table->models()) {
    if (!name.empty() && id != *asked) continue;
    for (const auto& [number, record] : versions) {
      if (record.state != VersionState::kReady) continue;
      known = true;
      if (!name.empty() && version >= 0 && number != version) continue;
      statistics.push_back(ServedOf(record).version().Statistics());
    }
  }
  if (!known) {
    return Status::InvalidArgument("requested model '" + name + "' is not available");
  }
  if (statistics.empty() && !name.empty()) {
    return Status::InvalidArgument("requested model version is not available for model '" + name +
                                   "'");
  }
  return statistics;
}

base::Result<api::SequenceList> InferenceServer::ListSequences(const std::string& name,
                                                               int64_t version) {
  if (!settings_.list_sequences) {
    return Status::NotFound(
        "sequences are not listed by this server (--enable-sequence-listing=true)");
  }
  NEREID_ASSIGN_OR_RETURN(auto loaded, repository_->lifecycle.Table()->Find(name, version));
  const auto served = ServedModel::From(std::move(loaded));
  if (!served->config().has_sequence_batching()) {
    return Status::NotFound("model '" + name + "' has no sequences");
  }
  return served->version().ListSequences(api::kMostSequencesListed);
}

base::Result<std::vector<api::RepositoryIndexEntry>> InferenceServer::GetRepositoryIndex(
    bool ready_only) {
  NEREID_RETURN_IF_ERROR(CheckServing());
  NEREID_ASSIGN_OR_RETURN(auto entries, repository_->lifecycle.Index(ready_only));
  std::vector<api::RepositoryIndexEntry> index;
  for (auto& entry : entries) {
    index.push_back({std::move(entry.name), std::move(entry.version), std::move(entry.state),
                     std::move(entry.reason)});
  }
  return index;
}

void InferenceServer::StartCollectors() {
  collectors_ = std::make_unique<Collectors>();
  telemetry::ProcessMetricsOptions options;
  options.cpu = settings_.cpu_metrics_enabled;
  options.interval_ms = settings_.metrics_interval_ms;
  options.pinned_pool = [total = settings_.pinned_memory_pool_byte_size] {
    return telemetry::PoolUse{total, 0};
  };
  collectors_->process = std::make_unique<telemetry::ProcessMetrics>(*metrics_, options);
  const bool with_durations = MetricsSwitch(settings_, "counter_latencies", true);
  const bool with_summaries = MetricsSwitch(settings_, "summary_latencies", false);
  SummaryForm form{SummaryQuantiles(settings_)};
  collectors_->models = std::make_unique<telemetry::ScopedCollector>(
      *metrics_, [this, with_durations, with_summaries,
                  form = std::move(form)](telemetry::MetricWriter& writer) mutable {
        form.now_ns = base::SteadyClock().NowNs();
        const auto table = repository_->lifecycle.Table();
        for (const auto& [id, versions] : table->models()) {
          for (const auto& [number, record] : versions) {
            if (record.state != VersionState::kReady) continue;
            ServedModel& served = ServedOf(record);
            const auto& tags = served.config().metric_tags();
            const telemetry::ModelStatistics statistics = served.version().Statistics();
            WriteModelMetrics(statistics, id.space, tags, with_durations, writer);
            if (!with_summaries) continue;
            WriteModelSummaries(statistics, served.version().Summaries(), form, id.space, tags,
                                writer);
          }
        }
      });
}

std::string InferenceServer::RenderMetrics() {
  return settings_.metrics_enabled ? metrics_->Render() : std::string();
}

}  // namespace nereid::server
