// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "schedule/inline_policy.h"

struct TRITONSERVER_Server;

namespace nereid::repository {
class LoadGate;
}

namespace nereid::server {

enum class ModelControlMode { kNone, kPoll, kExplicit };
enum class RateLimitMode { kOff, kExecutionCount };

/// The settings of a server. The defaults are those of the C API's options object; the command line
/// sets its own where they differ.
struct ServerSettings {
  std::string server_id = "triton";
  std::set<std::string> model_repository_paths;  // sorted, as Triton keeps them
  ModelControlMode model_control_mode = ModelControlMode::kNone;
  /// kPoll only: seconds between polls of the repositories; 0: only on RepositoryControl::Poll.
  uint32_t repository_poll_secs = 0;
  /// How long the files of a model must be still until a change of them is loaded; 0: not at all.
  /// Off by default, because in Triton a poll or a request loads what it finds.
  uint32_t repository_settle_secs = 0;
  std::vector<std::string> startup_models;  // kExplicit only; "*" alone: all
  bool strict_model_config = false;         // true: the backend does not complete configurations
  std::string model_config_name;            // configs/<name>.pbtxt instead of config.pbtxt
  bool exit_on_error = true;
  bool strict_readiness = true;
  uint32_t exit_timeout_secs = 30;
  uint32_t model_load_thread_count = 4;
  uint32_t model_load_retry_count = 0;
  /// The limit of the load of one model; 0: none. Its parameter load_timeout_secs overrides it. Off
  /// by default, as in Triton, because no limit suits all models.
  uint32_t model_load_timeout_secs = 0;
  bool model_namespacing = false;
  /// Directory of the copies of models in object stores; "": see mirror::DefaultCacheDirectory.
  std::string model_cache_directory;
  uint64_t model_cache_size = uint64_t{32} << 30;  // bytes; 0: unlimited
  /// Bytes of memory for models; 0: no budget, and every model is in memory (see
  /// residency/model_residency.h).
  uint64_t model_memory_budget = 0;
  uint32_t model_min_residence_secs = 0;  // a model stays at least so long in memory
  uint32_t model_wait_secs = 60;          // a request waits at most so long for its model
  uint32_t model_wait_queue_size = 1024;  // requests that wait for models
  std::set<std::string> pinned_models;    // never evicted
  std::string backend_directory = "/opt/tritonserver/backends";
  std::string repoagent_directory = "/opt/tritonserver/repoagents";
  std::string cache_directory = "/opt/tritonserver/caches";
  /// Settings by backend name ("" for all), in order of appearance. See SetGpuLoadLimit.
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> backend_config;
  /// The settings numa-node and cpu-cores by policy name.
  std::map<std::string, std::map<std::string, std::string>> host_policies;
  /// The response cache's configuration as JSON, by its name.
  std::map<std::string, std::string> cache_config;
  RateLimitMode rate_limit_mode = RateLimitMode::kOff;
  struct RateLimitResource {
    std::string name;
    uint64_t count = 0;
    int device = -1;  // -1: every device
  };
  std::vector<RateLimitResource> rate_limit_resources;
  /// GPUs with a lower compute capability are not used; 0: all are.
  double min_supported_compute_capability = 6.0;
  uint64_t pinned_memory_pool_byte_size = uint64_t{256} << 20;
  std::map<int, uint64_t> cuda_memory_pool_byte_size;  // by GPU
  std::map<int, uint64_t> cuda_virtual_address_size;   // by GPU: of memory that grows in place
  bool enable_peer_access = true;                      // between GPUs
  bool metrics_enabled = true;
  bool cpu_metrics_enabled = true;
  bool gpu_metrics_enabled = true;
  uint64_t metrics_interval_ms = 2000;
  /// Settings by group name ("" for the global group).
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> metrics_config;
  /// Whether the statistics of models have latency_counts, which the console needs.
  bool count_latencies = false;
  /// Whether models share the CPUs by a plan (model/cpu_plan.h). If not, each framework chooses its
  /// own number of threads.
  bool share_cpus = true;
  schedule::InlineMode inline_mode = schedule::InlineMode::kAuto;
  /// An execution that takes longer makes its model not ready; 0: never. Off by default, because no
  /// limit suits all models (a first execution that compiles kernels, or a long generation, takes
  /// minutes) and an orchestrator takes a server that is not ready out of service.
  uint32_t execution_watchdog_secs = 0;
  /// How long a stage of the server may not move until the watchdog names it; 0: there is none. Off
  /// by default, because a program that embeds the server may stop its threads (a debugger does).
  uint32_t watchdog_secs = 0;
  /// Whether a server with a stuck stage is not live. Off by default: a restart loses the requests
  /// that still move, so it must be wanted.
  bool watchdog_liveness = false;
  /// Whether GET v2/models/M/sequences is answered; it reveals the ids of all clients' sequences.
  bool list_sequences = false;
  /// The addresses of the other replicas, [http://|https://]HOST:PORT, to which sequences are
  /// handed over and from which they are fetched; empty: neither.
  std::vector<std::string> sequence_handover_peers;
  std::string sequence_handover_token_file;  // of the token that all replicas have
  /// Closed by the owner to stop the server while it loads its models; may be null.
  std::shared_ptr<repository::LoadGate> load_gate;
  /// The handle that TRITONBACKEND_ModelServer gives to plug-ins; may be null until the server
  /// exists.
  TRITONSERVER_Server* c_server = nullptr;
};

/// Returns the value of a switch of metrics_config's global group, "true" or "false"; the last
/// value counts. Returns `otherwise` if it is not set or has another value.
bool MetricsSwitch(const ServerSettings& settings, const std::string& name, bool otherwise);

/// Limits the memory of a GPU that may be in use when a model is loaded, from 0 to 1. As in Triton,
/// the limit is a setting of all backends.
void SetGpuLoadLimit(ServerSettings& settings, int gpu, double fraction);

/// Returns these limits by GPU. Returns INVALID_ARGUMENT for a setting of that name with another
/// value, which --backend-config can give.
base::Result<std::map<int, double>> GpuLoadLimitsOf(const ServerSettings& settings);

/// Returns the quantiles of summary_quantiles in metrics_config's global group
/// ("0.5:0.05,0.9:0.01"; the allowed errors are ignored). The last setting with a valid quantile
/// counts; the default is 0.5, 0.9, 0.95, 0.99 and 0.999. Entries that are not quantiles are logged
/// and ignored.
std::vector<double> SummaryQuantiles(const ServerSettings& settings);

}  // namespace nereid::server
