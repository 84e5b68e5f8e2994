// SPDX-License-Identifier: Apache-2.0
#include "app/server_settings_from_options.h"

#include <sstream>

#include "base/json_writer.h"

namespace nereid::app {
namespace {

server::ModelControlMode From(ModelControlMode mode) {
  switch (mode) {
    case ModelControlMode::kNone:
      return server::ModelControlMode::kNone;
    case ModelControlMode::kPoll:
      return server::ModelControlMode::kPoll;
    case ModelControlMode::kExplicit:
      return server::ModelControlMode::kExplicit;
  }
  return server::ModelControlMode::kNone;
}

schedule::InlineMode From(InlineExecution mode) {
  switch (mode) {
    case InlineExecution::kAuto:
      return schedule::InlineMode::kAuto;
    case InlineExecution::kAlways:
      return schedule::InlineMode::kAlways;
    case InlineExecution::kNever:
      return schedule::InlineMode::kNever;
  }
  return schedule::InlineMode::kAuto;
}

/// Returns the quantiles in the form of the command line, "0.5:0.05,0.9:0.01".
std::string QuantileText(const std::vector<std::pair<double, double>>& quantiles) {
  std::ostringstream text;
  for (const auto& [quantile, error] : quantiles) {
    text << (text.tellp() > 0 ? "," : "") << quantile << ':' << error;
  }
  return text.str();
}

std::string JsonObject(const Settings& settings) {
  std::string json;
  base::JsonWriter(&json).StringMap(settings);
  return json;
}

}  // namespace

server::ServerSettings ServerSettingsFrom(const ServerOptions& options) {
  server::ServerSettings settings;
  settings.server_id = options.id;
  settings.exit_timeout_secs = static_cast<uint32_t>(options.exit_timeout_secs);
  settings.inline_mode = From(options.inline_execution);
  settings.share_cpus = options.cpu_plan == CpuPlanMode::kShare;
  settings.count_latencies = options.console.port.has_value();
  settings.list_sequences = options.enable_sequence_listing;
  settings.sequence_handover_peers = options.sequence_handover_peers;
  settings.sequence_handover_token_file = options.sequence_handover_token_file;
  settings.watchdog_secs = static_cast<uint32_t>(options.watchdog_secs);
  settings.watchdog_liveness = options.watchdog_liveness;
  settings.execution_watchdog_secs = static_cast<uint32_t>(options.execution_watchdog_secs);

  const RepositoryOptions& repository = options.repository;
  settings.model_repository_paths = repository.paths;
  settings.model_control_mode = From(repository.control_mode);
  settings.repository_poll_secs = static_cast<uint32_t>(repository.poll_secs);
  settings.repository_settle_secs = static_cast<uint32_t>(repository.settle_secs);
  settings.startup_models.assign(repository.startup_models.begin(),
                                 repository.startup_models.end());
  settings.strict_model_config = repository.strict_model_config;
  settings.model_config_name = repository.model_config_name;
  settings.exit_on_error = repository.exit_on_error;
  settings.strict_readiness = repository.strict_readiness;
  settings.model_load_thread_count = static_cast<uint32_t>(repository.load_thread_count);
  settings.model_load_retry_count = static_cast<uint32_t>(repository.load_retry_count);
  settings.model_load_timeout_secs = static_cast<uint32_t>(repository.load_timeout_secs);
  settings.model_namespacing = repository.namespacing;
  settings.enable_peer_access = repository.enable_peer_access;
  settings.model_memory_budget = static_cast<uint64_t>(repository.memory_budget);
  settings.model_min_residence_secs = static_cast<uint32_t>(repository.min_residence_secs);
  settings.model_wait_secs = static_cast<uint32_t>(repository.wait_secs);
  settings.model_wait_queue_size = static_cast<uint32_t>(repository.wait_queue_size);
  settings.pinned_models = repository.pinned_models;
  settings.model_cache_directory = repository.cache_directory;
  settings.model_cache_size = static_cast<uint64_t>(repository.cache_size);

  const PluginOptions& plugins = options.plugins;
  settings.backend_directory = plugins.backend_directory;
  settings.repoagent_directory = plugins.repoagent_directory;
  settings.cache_directory = plugins.cache_directory;
  settings.backend_config = plugins.backend_config;
  if (!plugins.cache_name.empty()) {
    settings.cache_config[plugins.cache_name] = JsonObject(plugins.cache_config);
  }

  if (options.rate_limit.mode == RateLimitMode::kExecutionCount) {
    settings.rate_limit_mode = server::RateLimitMode::kExecutionCount;
  }
  for (const RateLimitResource& resource : options.rate_limit.resources) {
    settings.rate_limit_resources.push_back(
        {resource.name, resource.count, resource.device.value_or(-1)});
  }

  const DeviceOptions& devices = options.devices;
  settings.min_supported_compute_capability = devices.min_supported_compute_capability;
  settings.pinned_memory_pool_byte_size = devices.pinned_memory_pool_byte_size;
  settings.cuda_memory_pool_byte_size = devices.cuda_memory_pool_byte_size;
  for (const auto& [gpu, fraction] : devices.model_load_gpu_limit) {
    server::SetGpuLoadLimit(settings, gpu, fraction);
  }
  settings.cuda_virtual_address_size = devices.cuda_virtual_address_size;
  for (const auto& [policy, values] : devices.host_policies) {
    for (const auto& [setting, value] : values) settings.host_policies[policy][setting] = value;
  }

  const MetricsOptions& metrics = options.metrics;
  settings.metrics_enabled = metrics.enabled;
  settings.cpu_metrics_enabled = metrics.cpu;
  settings.gpu_metrics_enabled = metrics.gpu;
  settings.metrics_interval_ms = static_cast<uint64_t>(metrics.interval_ms);
  settings.metrics_config[""].emplace_back("counter_latencies",
                                           metrics.counter_latencies ? "true" : "false");
  settings.metrics_config[""].emplace_back("histogram_latencies",
                                           metrics.histogram_latencies ? "true" : "false");
  settings.metrics_config[""].emplace_back("summary_latencies",
                                           metrics.summary_latencies ? "true" : "false");
  settings.metrics_config[""].emplace_back("summary_quantiles",
                                           QuantileText(metrics.summary_quantiles));
  return settings;
}

}  // namespace nereid::app
