// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "schedule/inline_policy.h"

struct TRITONSERVER_Server;

namespace nereid::repository {
class LoadGate;
}

namespace nereid::server {

enum class ModelControlMode { kNone, kPoll, kExplicit };
enum class RateLimitMode { kOff, kExecutionCount };

/// How a server behaves. The defaults are those of the C API's options object; the command line
/// sets its own where they differ.
struct ServerSettings {
  std::string server_id = "triton";
  std::set<std::string> model_repository_paths;  // sorted, as Triton keeps them
  ModelControlMode model_control_mode = ModelControlMode::kNone;
  /// kPoll only: seconds between looks at the repositories; 0: only when asked.
  uint32_t repository_poll_secs = 0;
  std::vector<std::string> startup_models;  // kExplicit only; "*" alone = all
  bool strict_model_config = false;         // true: the backend completes nothing
  std::string model_config_name;            // configs/<name>.pbtxt instead of config.pbtxt
  bool exit_on_error = true;
  bool strict_readiness = true;
  uint32_t exit_timeout_secs = 30;
  uint32_t model_load_thread_count = 4;
  uint32_t model_load_retry_count = 0;
  bool model_namespacing = false;
  std::string backend_directory = "/opt/tritonserver/backends";
  std::string repoagent_directory = "/opt/tritonserver/repoagents";
  std::string cache_directory = "/opt/tritonserver/caches";
  /// Per backend name ("" = all) the settings in order of appearance.
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> backend_config;
  /// Per policy name the settings numa-node and cpu-cores.
  std::map<std::string, std::map<std::string, std::string>> host_policies;
  /// Name of the response cache and its configuration as JSON.
  std::map<std::string, std::string> cache_config;
  RateLimitMode rate_limit_mode = RateLimitMode::kOff;
  struct RateLimitResource {
    std::string name;
    uint64_t count = 0;
    int device = -1;  // -1: every device
  };
  std::vector<RateLimitResource> rate_limit_resources;
  double min_supported_compute_capability = 0;
  uint64_t pinned_memory_pool_byte_size = uint64_t{256} << 20;
  std::map<int, uint64_t> cuda_memory_pool_byte_size;
  bool metrics_enabled = true;
  bool cpu_metrics_enabled = true;
  bool gpu_metrics_enabled = true;
  uint64_t metrics_interval_ms = 2000;
  /// Per group name ("" = global) the settings.
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> metrics_config;
  /// Whether models share out the CPUs (model/cpu_plan.h) or each framework helps itself.
  bool share_cpus = true;
  schedule::InlineMode inline_mode = schedule::InlineMode::kAuto;
  /// An execution that takes longer makes its model unready; 0 = never. Off by default: no limit
  /// fits all models (a first execution that compiles kernels, or a long generation, takes
  /// minutes), and an orchestrator takes an unready server out of service.
  uint32_t execution_watchdog_secs = 0;
  /// Whether GET v2/models/M/sequences answers: it tells the ids of all clients' sequences.
  bool list_sequences = false;
  /// Closed by whoever wants to stop the server while it is still loading its models. Null: nobody.
  std::shared_ptr<repository::LoadGate> load_gate;
  /// What TRITONBACKEND_ModelServer hands to plug-ins; may be null until the server exists.
  TRITONSERVER_Server* c_server = nullptr;
};

/// A switch of the global group of metrics_config, "true" or "false": the last value counts.
/// `otherwise` where it is not given, or has another value.
bool MetricsSwitch(const ServerSettings& settings, const std::string& name, bool otherwise);

/// The quantiles of summary_quantiles in the global group of metrics_config ("0.5:0.05,0.9:0.01";
/// the error that is allowed is not needed): of the last value that names any, else 0.5, 0.9, 0.95,
/// 0.99 and 0.999. What is no quantile is left out, with a line in the log.
std::vector<double> SummaryQuantiles(const ServerSettings& settings);

}  // namespace nereid::server
