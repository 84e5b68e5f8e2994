// SPDX-License-Identifier: Apache-2.0
#include "server/model_runtime.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/cpus.h"
#include "base/log.h"
#include "base/usable_memory.h"
#include "cache/response_cache.h"
#include "memory/gpu/gpu_pools.h"
#include "schedule/limits/resource_permits.h"
#include "server/residency/model_facts.h"

namespace nereid::server {

using base::Status;

namespace {

backend::BackendRegistry::Settings BackendSettings(const ServerSettings& settings) {
  backend::BackendRegistry::Settings backends;
  backends.directory = settings.backend_directory;
  backends.auto_complete = !settings.strict_model_config;
  backends.min_compute_capability = settings.min_supported_compute_capability;
  backends.config = settings.backend_config;
  return backends;
}

memory::GpuMemorySettings GpuMemoryOf(const ServerSettings& settings) {
  memory::GpuMemorySettings memory;
  memory.pinned_pool_bytes = settings.pinned_memory_pool_byte_size;
  memory.pool_bytes = settings.cuda_memory_pool_byte_size;
  memory.address_bytes = settings.cuda_virtual_address_size;
  memory.peer_access = settings.enable_peer_access;
  return memory;
}

/// Returns null if the plan is off.
std::unique_ptr<model::CpuPlan> MakeCpuPlan(const ServerSettings& settings) {
  if (!settings.share_cpus) return nullptr;
  return std::make_unique<model::CpuPlan>(base::UsableCpuCount(), settings.backend_config);
}

/// Returns whether a model with files of this size may be in memory once more.
bool MayCopyModel(uint64_t file_bytes) {
  const uint64_t most = base::UsableMemoryBytes() / 2;
  const uint64_t resident = std::min(most, base::ResidentMemoryBytes());
  return file_bytes <= most - resident;
}

/// Returns null if the rate limiter is off.
std::unique_ptr<schedule::ResourcePermits> MakePermits(const ServerSettings& settings) {
  if (settings.rate_limit_mode == RateLimitMode::kOff) return nullptr;
  std::vector<schedule::ResourceCapacity> capacities;
  for (const ServerSettings::RateLimitResource& resource : settings.rate_limit_resources) {
    const auto device =
        resource.device == -1 ? std::nullopt : std::optional<int32_t>(resource.device);
    capacities.push_back({resource.name, resource.count, device});
  }
  return std::make_unique<schedule::ResourcePermits>(capacities);
}

std::string Numbers(const std::vector<device::Gpu>& gpus) {
  std::string text;
  for (const device::Gpu& gpu : gpus) {
    text += (text.empty() ? "" : ", ") + std::to_string(gpu.ordinal);
  }
  return text;
}

// A machine without a driver needs no message. A driver that fails does.
void LogGpus(const device::Gpus& gpus) {
  for (const std::string& failure : gpus.failures()) {
    LOG_WARNING << failure << "; the GPU is not used";
  }
  if (gpus.driver_failed()) {
    LOG_WARNING << "No GPUs are used: " << gpus.none_because();
  } else if (!gpus.none_because().empty()) {
    LOG_VERBOSE(1) << "No GPUs are used: " << gpus.none_because();
  }
  if (!gpus.too_old().empty()) {
    LOG_WARNING << "GPUs that are not used because their compute capability is less than "
                << gpus.min_capability()
                << " (--min-supported-compute-capability): " << Numbers(gpus.too_old());
  }
  if (!gpus.empty()) LOG_INFO << "GPUs that are used: " << Numbers(gpus.used());
}

}  // namespace

base::Result<std::unique_ptr<ModelRuntime>> ModelRuntime::Create(const ServerSettings& settings) {
  NEREID_ASSIGN_OR_RETURN(auto gpu_load_limits, GpuLoadLimitsOf(settings));
  memory::GpuPools::Get().Configure(GpuMemoryOf(settings));
  std::unique_ptr<ModelRuntime> runtime(new ModelRuntime(settings));
  runtime->gpu_load_limits_ = model::GpuLoadLimits(std::move(gpu_load_limits));
  LogGpus(runtime->gpus_);
  // The timers' thread is started here, because without it no model could be served.
  NEREID_RETURN_IF_ERROR(runtime->timers_.Start());
  NEREID_RETURN_IF_ERROR(runtime->OpenResponseCache());
  return runtime;
}

ModelRuntime::ModelRuntime(const ServerSettings& settings)
    : settings_(settings),
      gpus_(device::Gpus::Find(settings.min_supported_compute_capability)),
      cpu_plan_(MakeCpuPlan(settings)),
      permits_(MakePermits(settings)),
      backends_(std::make_unique<backend::BackendRegistry>(BackendSettings(settings))) {}

ModelRuntime::~ModelRuntime() { memory::GpuPools::Get().Trim(); }

Status ModelRuntime::OpenResponseCache() {
  if (settings_.cache_config.empty()) return Status::Ok();
  if (settings_.cache_config.size() > 1) {
    std::string names;
    for (const auto& [name, config] : settings_.cache_config) names += " '" + name + "'";
    return Status::InvalidArgument(
        "found multiple cache configurations, but only a single cache is currently supported:" +
        names);
  }
  const auto& [name, config] = *settings_.cache_config.begin();
  NEREID_ASSIGN_OR_RETURN(response_cache_,
                          cache::ResponseCache::Open(settings_.cache_directory, name, config));
  return Status::Ok();
}

model::ModelEnvironment ModelRuntime::Environment() {
  model::ModelEnvironment environment{*backends_, base::SteadyClock(), timers_};
  environment.auto_complete = !settings_.strict_model_config;
  environment.inline_mode = settings_.inline_mode;
  environment.execution_watchdog_secs = settings_.execution_watchdog_secs;
  environment.host_policies = settings_.host_policies;
  environment.gpus = &gpus_;
  environment.gpu_load_limits = gpu_load_limits_;
  environment.permits = permits_.get();
  environment.cpu_plan = cpu_plan_.get();
  environment.may_copy_model = [this](const std::string& directory) {
    return settings_.model_memory_budget == 0 && MayCopyModel(DirectoryBytes(directory));
  };
  environment.c_server = settings_.c_server;
  environment.response_cache = response_cache_.get();
  environment.histogram_latencies =
      settings_.metrics_enabled && MetricsSwitch(settings_, "histogram_latencies", false);
  environment.latencies.summaries =
      settings_.metrics_enabled && MetricsSwitch(settings_, "summary_latencies", false);
  environment.latencies.counts = settings_.count_latencies;
  return environment;
}

void ModelRuntime::ExpectModels(size_t count) {
  if (cpu_plan_ != nullptr) cpu_plan_->Expect(count);
}

std::vector<model::CpuShare> ModelRuntime::CpuShares() const {
  return cpu_plan_ == nullptr ? std::vector<model::CpuShare>{} : cpu_plan_->Shares();
}

std::vector<BackendSummary> ModelRuntime::Backends() const {
  std::vector<BackendSummary> summaries;
  for (const auto& backend : backends_->Loaded()) {
    summaries.push_back({backend->name(), backend->library_path(), backend->config().json});
  }
  return summaries;
}

}  // namespace nereid::server
