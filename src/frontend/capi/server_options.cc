// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_ServerOptions*. The settings of the log are in log_options.cc.
#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#include "abi/error.h"
#include "abi/message.h"
#include "frontend/capi/handles.h"

using namespace nereid;
using server::ServerSettings;

namespace {

/// Runs `body` with the settings.
template <typename Body>
TRITONSERVER_Error* Set(TRITONSERVER_ServerOptions* options, Body&& body) noexcept {
  return abi::Guard([&]() -> base::Status {
    if constexpr (std::is_void_v<decltype(body(options->settings))>) {
      body(options->settings);
      return base::Status::Ok();
    } else {
      return body(options->settings);
    }
  });
}

base::Status UnknownValue(const char* what, int value) {
  return base::Status::InvalidArgument(std::string("unknown ") + what + " " +
                                       std::to_string(value));
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ServerOptionsNew(TRITONSERVER_ServerOptions** options) {
  NEREID_CHECK_NOT_NULL(options);
  return abi::Guard([&] {
    auto* made = new TRITONSERVER_ServerOptions();
    // Where this API's defaults differ from the command line's.
    made->settings.model_control_mode = server::ModelControlMode::kPoll;
    made->settings.strict_model_config = true;
    *options = made;
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsDelete(TRITONSERVER_ServerOptions* options) {
  delete options;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetServerId(TRITONSERVER_ServerOptions* options,
                                                          const char* server_id) {
  NEREID_CHECK_NOT_NULL(options, server_id);
  return Set(options, [&](ServerSettings& settings) { settings.server_id = server_id; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelRepositoryPath(
    TRITONSERVER_ServerOptions* options, const char* model_repository_path) {
  NEREID_CHECK_NOT_NULL(options, model_repository_path);
  return Set(options, [&](ServerSettings& settings) {
    settings.model_repository_paths.insert(model_repository_path);
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelControlMode(
    TRITONSERVER_ServerOptions* options, TRITONSERVER_ModelControlMode mode) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options, [&](ServerSettings& settings) {
    switch (mode) {
      case TRITONSERVER_MODEL_CONTROL_NONE:
        settings.model_control_mode = server::ModelControlMode::kNone;
        return base::Status::Ok();
      case TRITONSERVER_MODEL_CONTROL_POLL:
        settings.model_control_mode = server::ModelControlMode::kPoll;
        return base::Status::Ok();
      case TRITONSERVER_MODEL_CONTROL_EXPLICIT:
        settings.model_control_mode = server::ModelControlMode::kExplicit;
        return base::Status::Ok();
    }
    return UnknownValue("model control mode", static_cast<int>(mode));
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetStartupModel(TRITONSERVER_ServerOptions* options,
                                                              const char* model_name) {
  NEREID_CHECK_NOT_NULL(options, model_name);
  return Set(options, [&](ServerSettings& settings) {
    auto& models = settings.startup_models;
    if (std::find(models.begin(), models.end(), model_name) == models.end()) {
      models.emplace_back(model_name);
    }
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetStrictModelConfig(
    TRITONSERVER_ServerOptions* options, bool strict) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options, [&](ServerSettings& settings) { settings.strict_model_config = strict; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelConfigName(
    TRITONSERVER_ServerOptions* options, const char* model_config_name) {
  NEREID_CHECK_NOT_NULL(options, model_config_name);
  return Set(options,
             [&](ServerSettings& settings) { settings.model_config_name = model_config_name; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetRateLimiterMode(
    TRITONSERVER_ServerOptions* options, TRITONSERVER_RateLimitMode mode) {
  NEREID_CHECK_NOT_NULL(options);
  switch (mode) {
    case TRITONSERVER_RATE_LIMIT_OFF:
      return Set(options, [](ServerSettings& settings) {
        settings.rate_limit_mode = server::RateLimitMode::kOff;
      });
    case TRITONSERVER_RATE_LIMIT_EXEC_COUNT:
      return Set(options, [](ServerSettings& settings) {
        settings.rate_limit_mode = server::RateLimitMode::kExecutionCount;
      });
  }
  return abi::Guard([&] { return UnknownValue("rate limiter mode", static_cast<int>(mode)); });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsAddRateLimiterResource(
    TRITONSERVER_ServerOptions* options, const char* resource_name, size_t resource_count,
    int device) {
  NEREID_CHECK_NOT_NULL(options, resource_name);
  return Set(options, [&](ServerSettings& settings) {
    settings.rate_limit_resources.push_back({resource_name, resource_count, device});
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetPinnedMemoryPoolByteSize(
    TRITONSERVER_ServerOptions* options, uint64_t size) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options,
             [&](ServerSettings& settings) { settings.pinned_memory_pool_byte_size = size; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCudaMemoryPoolByteSize(
    TRITONSERVER_ServerOptions* options, int gpu_device, uint64_t size) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options, [&](ServerSettings& settings) {
    settings.cuda_memory_pool_byte_size[gpu_device] = size;
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCudaVirtualAddressSize(
    TRITONSERVER_ServerOptions* options, int gpu_device, size_t cuda_virtual_address_size) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options, [&](ServerSettings& settings) {
    settings.cuda_virtual_address_size[gpu_device] = cuda_virtual_address_size;
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetResponseCacheByteSize(
    TRITONSERVER_ServerOptions* options, uint64_t size) {
  NEREID_CHECK_NOT_NULL(options);
  if (size == 0) return nullptr;  // no cache
  return Set(options, [&](ServerSettings& settings) {
    settings.cache_config["local"] = "{\"size\":\"" + std::to_string(size) + "\"}";
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCacheConfig(TRITONSERVER_ServerOptions* options,
                                                             const char* cache_name,
                                                             const char* config_json) {
  NEREID_CHECK_NOT_NULL(options, cache_name, config_json);
  return Set(options, [&](ServerSettings& settings) -> base::Status {
    NEREID_RETURN_IF_ERROR(
        abi::CheckJson(config_json)
            .WithPrefix("the configuration of response cache '" + std::string(cache_name) + "': "));
    settings.cache_config[cache_name] = config_json;
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCacheDirectory(TRITONSERVER_ServerOptions* options,
                                                                const char* cache_dir) {
  NEREID_CHECK_NOT_NULL(options, cache_dir);
  return Set(options, [&](ServerSettings& settings) { settings.cache_directory = cache_dir; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMinSupportedComputeCapability(
    TRITONSERVER_ServerOptions* options, double cc) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options,
             [&](ServerSettings& settings) { settings.min_supported_compute_capability = cc; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetExitOnError(TRITONSERVER_ServerOptions* options,
                                                             bool exit) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options, [&](ServerSettings& settings) { settings.exit_on_error = exit; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetStrictReadiness(
    TRITONSERVER_ServerOptions* options, bool strict) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options, [&](ServerSettings& settings) { settings.strict_readiness = strict; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetExitTimeout(TRITONSERVER_ServerOptions* options,
                                                             unsigned int timeout) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options, [&](ServerSettings& settings) { settings.exit_timeout_secs = timeout; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetBufferManagerThreadCount(
    TRITONSERVER_ServerOptions* options, unsigned int /*thread_count*/) {
  NEREID_CHECK_NOT_NULL(options);
  return nullptr;  // tensors are copied where they are needed: there are no threads to count
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelLoadThreadCount(
    TRITONSERVER_ServerOptions* options, unsigned int thread_count) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options,
             [&](ServerSettings& settings) { settings.model_load_thread_count = thread_count; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelLoadRetryCount(
    TRITONSERVER_ServerOptions* options, unsigned int retry_count) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options,
             [&](ServerSettings& settings) { settings.model_load_retry_count = retry_count; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelNamespacing(
    TRITONSERVER_ServerOptions* options, bool enable_namespace) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options,
             [&](ServerSettings& settings) { settings.model_namespacing = enable_namespace; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetEnablePeerAccess(
    TRITONSERVER_ServerOptions* options, bool enable_peer_access) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options,
             [&](ServerSettings& settings) { settings.enable_peer_access = enable_peer_access; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMetrics(TRITONSERVER_ServerOptions* options,
                                                         bool metrics) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options, [&](ServerSettings& settings) { settings.metrics_enabled = metrics; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetGpuMetrics(TRITONSERVER_ServerOptions* options,
                                                            bool gpu_metrics) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options,
             [&](ServerSettings& settings) { settings.gpu_metrics_enabled = gpu_metrics; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCpuMetrics(TRITONSERVER_ServerOptions* options,
                                                            bool cpu_metrics) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options,
             [&](ServerSettings& settings) { settings.cpu_metrics_enabled = cpu_metrics; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMetricsInterval(
    TRITONSERVER_ServerOptions* options, uint64_t metrics_interval_ms) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options,
             [&](ServerSettings& settings) { settings.metrics_interval_ms = metrics_interval_ms; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetBackendDirectory(
    TRITONSERVER_ServerOptions* options, const char* backend_dir) {
  NEREID_CHECK_NOT_NULL(options, backend_dir);
  return Set(options, [&](ServerSettings& settings) { settings.backend_directory = backend_dir; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetRepoAgentDirectory(
    TRITONSERVER_ServerOptions* options, const char* repoagent_dir) {
  NEREID_CHECK_NOT_NULL(options, repoagent_dir);
  return Set(options,
             [&](ServerSettings& settings) { settings.repoagent_directory = repoagent_dir; });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelLoadDeviceLimit(
    TRITONSERVER_ServerOptions* options, TRITONSERVER_InstanceGroupKind kind, int device_id,
    double fraction) {
  NEREID_CHECK_NOT_NULL(options);
  return Set(options, [&](ServerSettings& settings) {
    if (kind != TRITONSERVER_INSTANCEGROUPKIND_GPU || device_id < 0) {
      return base::Status::InvalidArgument(
          "a device limit is for a GPU with a device id of at least 0, got kind " +
          std::string(TRITONSERVER_InstanceGroupKindString(kind)) + " and device id " +
          std::to_string(device_id));
    }
    if (!(fraction >= 0.0 && fraction <= 1.0)) {
      return base::Status::InvalidArgument("the limit for device " + std::to_string(device_id) +
                                           " must lie between 0 and 1, got " +
                                           std::to_string(fraction));
    }
    server::SetGpuLoadLimit(settings, device_id, fraction);
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetBackendConfig(TRITONSERVER_ServerOptions* options,
                                                               const char* backend_name,
                                                               const char* setting,
                                                               const char* value) {
  NEREID_CHECK_NOT_NULL(options, backend_name, setting, value);
  return Set(options, [&](ServerSettings& settings) {
    settings.backend_config[backend_name].emplace_back(setting, value);
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetHostPolicy(TRITONSERVER_ServerOptions* options,
                                                            const char* policy_name,
                                                            const char* setting,
                                                            const char* value) {
  NEREID_CHECK_NOT_NULL(options, policy_name, setting, value);
  return Set(options, [&](ServerSettings& settings) {
    if (std::strcmp(setting, "numa-node") != 0 && std::strcmp(setting, "cpu-cores") != 0) {
      return base::Status::Unsupported(std::string("Unsupported host policy setting '") + setting +
                                       "', supported settings are 'numa-node', 'cpu-cores'");
    }
    settings.host_policies[policy_name][setting] = value;
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMetricsConfig(TRITONSERVER_ServerOptions* options,
                                                               const char* name,
                                                               const char* setting,
                                                               const char* value) {
  NEREID_CHECK_NOT_NULL(options, name, setting, value);
  return Set(options, [&](ServerSettings& settings) {
    settings.metrics_config[name].emplace_back(setting, value);
  });
}

}  // extern "C"
