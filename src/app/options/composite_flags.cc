// SPDX-License-Identifier: Apache-2.0
#include "app/options/composite_flags.h"

#include <algorithm>
#include <climits>
#include <cmath>

#include "app/options/flag_values.h"
#include "base/ascii_case.h"
#include "handover/peers.h"

namespace nereid::app {
namespace {

using base::Status;

template <typename T>
struct Choice {
  std::string_view name;
  T value;
};

// Sets `target` to the choice with the name `value`. `flag` is the name in Triton's error text.
template <typename T, size_t N>
Status ReadChoice(std::string_view flag, std::string_view value, const Choice<T> (&choices)[N],
                  T& target) {
  std::string names;
  for (const Choice<T>& choice : choices) {
    if (value == choice.name) {
      target = choice.value;
      return {};
    }
    names.append(names.empty() ? "" : ", ").append(choice.name);
  }
  return Status::InvalidArgument("invalid argument for --" + std::string(flag) + ". Got " +
                                 std::string(value) + ", expected one of: " + names);
}

// Does the same for flags whose values Triton accepts in any letter case.
template <typename T, size_t N>
Status ReadChoiceOfAnyCase(std::string_view flag, std::string_view value,
                           const Choice<T> (&choices)[N], T& target) {
  if (ReadChoice(flag, Lowercase(value), choices, target).ok()) return {};
  return ReadChoice(flag, value, choices, target);  // the message quotes the original value
}

Status ReadDeviceBytes(std::string_view value, std::map<int, uint64_t>& target) {
  NEREID_ASSIGN_OR_RETURN(const auto pair, SplitPair(value, ':', "<device>:<bytes>"));
  NEREID_ASSIGN_OR_RETURN(const int64_t device, ParseInteger(pair.first, 0, INT_MAX));
  NEREID_ASSIGN_OR_RETURN(const int64_t bytes, ParseInteger(pair.second, 0, INT64_MAX));
  target[static_cast<int>(device)] = static_cast<uint64_t>(bytes);
  return {};
}

// Checks a list of CPU numbers and ranges, "a-b[,c]" with a <= b.
Status CheckCpuCores(std::string_view text) {
  for (const std::string& part : SplitList(text)) {
    const std::vector<std::string> ends = SplitList(part, '-');
    if (ends.size() > 2) {
      return Status::InvalidArgument(
          "cpu-cores must be numbers and ranges, for example 0-3,8. Got " + std::string(text));
    }
    NEREID_ASSIGN_OR_RETURN(const int64_t first, ParseInteger(ends.front(), 0, INT_MAX));
    NEREID_ASSIGN_OR_RETURN(const int64_t last, ParseInteger(ends.back(), 0, INT_MAX));
    if (last < first) {
      return Status::InvalidArgument(
          "cpu-cores has a range whose first number is above its last: " + part);
    }
  }
  return {};
}

base::Result<std::vector<std::pair<double, double>>> ParseQuantiles(std::string_view text) {
  std::vector<std::pair<double, double>> quantiles;
  for (const std::string& part : SplitList(text)) {
    NEREID_ASSIGN_OR_RETURN(const auto pair, SplitPair(part, ':', "<quantile>:<error>"));
    NEREID_ASSIGN_OR_RETURN(const double quantile, ParseNumber(pair.first, 0, 1));
    NEREID_ASSIGN_OR_RETURN(const double error, ParseNumber(pair.second, 0, 1));
    quantiles.emplace_back(quantile, error);
  }
  return quantiles;
}

}  // namespace

Status ReadLogVerbose(FlagState& state, std::string_view value) {
  const std::string lower = Lowercase(value);
  if (lower == "true" || lower == "false") {
    state.options.log.verbose = lower == "true";
    return {};
  }
  NEREID_ASSIGN_OR_RETURN(const int64_t level, ParseInteger(value, INT_MIN, INT_MAX));
  state.options.log.verbose = static_cast<int>(std::max<int64_t>(level, 0));
  return {};
}

Status ReadLogFormat(FlagState& state, std::string_view value) {
  static constexpr Choice<base::LogFormat> kChoices[] = {{"default", base::LogFormat::kDefault},
                                                         {"ISO8601", base::LogFormat::kIso8601},
                                                         {"json", base::LogFormat::kJson}};
  return ReadChoice("log-format", value, kChoices, state.options.log.format);
}

Status ReadModelRepository(FlagState& state, std::string_view value) {
  if (value.empty()) return Status::InvalidArgument("the path of a model repository is empty");
  state.options.repository.paths.emplace(value);
  return {};
}

Status ReadModelControlMode(FlagState& state, std::string_view value) {
  static constexpr Choice<ModelControlMode> kChoices[] = {
      {"none", ModelControlMode::kNone},
      {"poll", ModelControlMode::kPoll},
      {"explicit", ModelControlMode::kExplicit}};
  return ReadChoiceOfAnyCase("model-control-mode", value, kChoices,
                             state.options.repository.control_mode);
}

Status ReadModelConfigName(FlagState& state, std::string_view value) {
  if (value.empty()) {
    return Status::InvalidArgument("Error: empty argument for --model-config-name");
  }
  state.options.repository.model_config_name = value;
  return {};
}

Status ReadLoadModel(FlagState& state, std::string_view value) {
  if (value.empty()) return Status::InvalidArgument("the name of a model is empty");
  state.options.repository.startup_models.emplace(value);
  return {};
}

Status ReadPinnedModel(FlagState& state, std::string_view value) {
  if (value.empty()) return Status::InvalidArgument("the name of a model is empty");
  state.options.repository.pinned_models.emplace(value);
  return {};
}

Status ReadCpuPlan(FlagState& state, std::string_view value) {
  static constexpr Choice<CpuPlanMode> kChoices[] = {{"share", CpuPlanMode::kShare},
                                                     {"off", CpuPlanMode::kOff}};
  return ReadChoice("cpu-plan", value, kChoices, state.options.cpu_plan);
}

Status ReadInlineExecution(FlagState& state, std::string_view value) {
  static constexpr Choice<InlineExecution> kChoices[] = {{"auto", InlineExecution::kAuto},
                                                         {"always", InlineExecution::kAlways},
                                                         {"never", InlineExecution::kNever}};
  return ReadChoice("inline-execution", value, kChoices, state.options.inline_execution);
}

Status ReadClientShm(FlagState& state, std::string_view value) {
  if (value == "sent") {
    state.options.devices.allow_client_shm = ClientShm::kSent;
    return {};
  }
  NEREID_ASSIGN_OR_RETURN(const bool allowed, ParseBool(value));
  state.options.devices.allow_client_shm = allowed ? ClientShm::kAll : ClientShm::kNone;
  return {};
}

Status ReadUnixSocketMode(FlagState& state, std::string_view value) {
  NEREID_ASSIGN_OR_RETURN(state.options.unix_socket_mode, ParseFileMode(value));
  return {};
}

// The characters of a token (RFC 9110, section 5.6.2) that a name of gRPC metadata may have, too.
// Values of names that end with "-bin" would be base64 in gRPC only.
Status ReadSequenceIdHeader(FlagState& state, std::string_view value) {
  constexpr std::string_view kCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  if (value.empty() || value.size() > 64 || value.ends_with("-bin") ||
      value.find_first_not_of(kCharacters) != value.npos) {
    return Status::InvalidArgument(
        "the name of a header has 1 to 64 letters, digits, '-', '_' and '.', and does not end with "
        "-bin. Got " +
        std::string(value));
  }
  // The ids of sequences are in messages and lists.
  if (base::EqualsIgnoringCase(value, "authorization") ||
      base::EqualsIgnoringCase(value, "cookie")) {
    return Status::InvalidArgument("the header " + std::string(value) +
                                   " has secrets, and the ids of sequences are none");
  }
  state.options.sequence_id_header = value;
  return {};
}

Status ReadReplicaName(FlagState& state, std::string_view value) {
  const bool is_visible =
      std::all_of(value.begin(), value.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (value.empty() || value.size() > 128 || !is_visible) {
    return Status::InvalidArgument(
        "the name of a replica has 1 to 128 visible characters of ASCII, without blanks. Got " +
        std::string(value));
  }
  state.options.replica_name = value;
  return {};
}

Status ReadSequenceHandoverPeers(FlagState& state, std::string_view value) {
  for (std::string& peer : SplitList(value)) {
    NEREID_RETURN_IF_ERROR(handover::ParsePeer(peer).status());
    state.options.sequence_handover_peers.push_back(std::move(peer));
  }
  return {};
}

// Browsers name the origin of a page as scheme://host[:port], without a path. What is written in
// any other way would never be equal to it.
Status ReadCorsOrigins(FlagState& state, std::string_view value) {
  constexpr std::string_view kCharacters = "abcdefghijklmnopqrstuvwxyz0123456789.-_:[]";
  for (const std::string& origin : SplitList(value)) {
    const size_t scheme = origin.find("://");
    const bool has_host = scheme != origin.npos && scheme > 0 && scheme + 3 < origin.size();
    const std::string_view host = has_host ? std::string_view(origin).substr(scheme + 3) : "";
    if (origin != "*" && (!has_host || host.find_first_not_of(kCharacters) != host.npos ||
                          origin.find_first_not_of(kCharacters) != scheme + 1)) {
      return Status::InvalidArgument(
          "the origin of a web page has the form https://host[:port] in "
          "lower case, or is * for all pages. Got " +
          origin);
    }
    state.options.http.cors_origins.push_back(origin);
  }
  return {};
}

Status ReadHttpRestricted(FlagState& state, std::string_view value) {
  auto& groups = state.options.http.restricted;
  NEREID_ASSIGN_OR_RETURN(RestrictedGroup group, ParseRestricted(value, "api", groups));
  groups.push_back(std::move(group));
  return {};
}

Status ReadGrpcRestricted(FlagState& state, std::string_view value) {
  auto& groups = state.options.grpc.restricted;
  NEREID_ASSIGN_OR_RETURN(RestrictedGroup group, ParseRestricted(value, "protocol", groups));
  groups.push_back(std::move(group));
  return {};
}

Status ReadCompressionLevel(FlagState& state, std::string_view value) {
  static constexpr Choice<CompressionLevel> kChoices[] = {{"none", CompressionLevel::kNone},
                                                          {"low", CompressionLevel::kLow},
                                                          {"medium", CompressionLevel::kMedium},
                                                          {"high", CompressionLevel::kHigh}};
  return ReadChoice("grpc_infer_response_compression_level", value, kChoices,
                    state.options.grpc.compression_level);
}

Status ReadSafePortRange(FlagState& state, std::string_view value) {
  NEREID_ASSIGN_OR_RETURN(const auto pair, SplitPair(value, '-', "<first port>-<last port>"));
  NEREID_ASSIGN_OR_RETURN(const int64_t first, ParseInteger(pair.first, 0, 65535));
  NEREID_ASSIGN_OR_RETURN(const int64_t last, ParseInteger(pair.second, 0, 65535));
  if (last < first) {
    return Status::InvalidArgument("the first port is above the last port: " + std::string(value));
  }
  state.options.sagemaker.safe_port_range = {static_cast<int>(first), static_cast<int>(last)};
  return {};
}

Status ReadMetricsInterval(FlagState& state, std::string_view value) {
  // Triton documents a floating-point number and reads an integer, so a fraction is accepted and
  // ignored.
  NEREID_ASSIGN_OR_RETURN(const double milliseconds, ParseNumber(value, 1, INT_MAX));
  state.options.metrics.interval_ms = static_cast<int>(milliseconds);
  return {};
}

Status ReadMetricsConfig(FlagState& state, std::string_view value) {
  NEREID_ASSIGN_OR_RETURN(const ScopedSetting parsed,
                          ParseScopedSetting(value, {"metrics-config", "", "<setting>=<value>",
                                                     ScopedForm::Scope::kNone}));
  MetricsOptions& metrics = state.options.metrics;
  bool* target = nullptr;
  if (parsed.setting == "counter_latencies") target = &metrics.counter_latencies;
  if (parsed.setting == "histogram_latencies") target = &metrics.histogram_latencies;
  if (parsed.setting == "summary_latencies") target = &metrics.summary_latencies;
  if (target != nullptr) {
    NEREID_ASSIGN_OR_RETURN(*target, ParseBool(parsed.value));
    return {};
  }
  if (parsed.setting == "summary_quantiles") {
    NEREID_ASSIGN_OR_RETURN(metrics.summary_quantiles, ParseQuantiles(parsed.value));
    return {};
  }
  return Status::InvalidArgument(
      "unknown setting '" + parsed.setting +
      "', expected counter_latencies, histogram_latencies, summary_latencies or summary_quantiles");
}

Status ReadBackendConfig(FlagState& state, std::string_view value) {
  NEREID_ASSIGN_OR_RETURN(
      ScopedSetting parsed,
      ParseScopedSetting(value, {"backend-config", "backend", "<backend name>,<setting>=<value>"}));
  if (parsed.scope.empty() && parsed.setting == "default-max-batch-size") {
    NEREID_RETURN_IF_ERROR(ParseInteger(parsed.value, 0, INT_MAX).status());
  }
  state.options.plugins.backend_config[parsed.scope].emplace_back(std::move(parsed.setting),
                                                                  std::move(parsed.value));
  return {};
}

Status ReadCacheConfig(FlagState& state, std::string_view value) {
  NEREID_ASSIGN_OR_RETURN(
      ScopedSetting parsed,
      ParseScopedSetting(value, {"cache-config", "cache", "<cache name>,<setting>=<value>",
                                 ScopedForm::Scope::kRequired}));
  PluginOptions& plugins = state.options.plugins;
  if (!plugins.cache_name.empty() && plugins.cache_name != parsed.scope) {
    return Status::InvalidArgument(
        "found multiple cache configurations, but only a single cache is currently supported. "
        "Got '" +
        plugins.cache_name + "' and '" + parsed.scope + "'");
  }
  plugins.cache_name = parsed.scope;
  plugins.cache_config.emplace_back(std::move(parsed.setting), std::move(parsed.value));
  return {};
}

Status ReadRateLimit(FlagState& state, std::string_view value) {
  static constexpr Choice<RateLimitMode> kChoices[] = {
      {"off", RateLimitMode::kOff}, {"execution_count", RateLimitMode::kExecutionCount}};
  return ReadChoiceOfAnyCase("rate-limit", value, kChoices, state.options.rate_limit.mode);
}

Status ReadRateLimitResource(FlagState& state, std::string_view value) {
  const std::vector<std::string> parts = SplitList(value, ':');
  if (parts.size() < 2 || parts.size() > 3 || parts[0].empty()) {
    return Status::InvalidArgument(
        "option format is '<resource_name>:<count>:<device>' or '<resource_name>:<count>'. Got " +
        std::string(value));
  }
  RateLimitResource resource;
  resource.name = parts[0];
  NEREID_ASSIGN_OR_RETURN(const int64_t count, ParseInteger(parts[1], 0, INT_MAX));
  resource.count = static_cast<uint64_t>(count);
  if (parts.size() == 3) {
    NEREID_ASSIGN_OR_RETURN(const int64_t device, ParseInteger(parts[2], -1, INT_MAX));
    if (device >= 0) resource.device = static_cast<int>(device);
  }
  state.options.rate_limit.resources.push_back(std::move(resource));
  return {};
}

Status ReadCudaPoolSize(FlagState& state, std::string_view value) {
  return ReadDeviceBytes(value, state.options.devices.cuda_memory_pool_byte_size);
}

Status ReadCudaAddressSize(FlagState& state, std::string_view value) {
  return ReadDeviceBytes(value, state.options.devices.cuda_virtual_address_size);
}

Status ReadHostPolicy(FlagState& state, std::string_view value) {
  NEREID_ASSIGN_OR_RETURN(
      ScopedSetting parsed,
      ParseScopedSetting(value, {"host-policy", "", "<policy name>,<setting>=<value>",
                                 ScopedForm::Scope::kRequired}));
  if (parsed.setting == "numa-node") {
    NEREID_RETURN_IF_ERROR(ParseInteger(parsed.value, 0, INT_MAX).status());
  } else if (parsed.setting == "cpu-cores") {
    NEREID_RETURN_IF_ERROR(CheckCpuCores(parsed.value));
  } else {
    return Status::InvalidArgument(
        "Unsupported host policy setting '" + parsed.setting +
        "' is specified, supported settings are 'numa-node', 'cpu-cores'");
  }
  state.options.devices.host_policies[parsed.scope].emplace_back(std::move(parsed.setting),
                                                                 std::move(parsed.value));
  return {};
}

Status ReadGpuLimit(FlagState& state, std::string_view value) {
  NEREID_ASSIGN_OR_RETURN(const auto pair, SplitPair(value, ':', "<device>:<fraction>"));
  NEREID_ASSIGN_OR_RETURN(const int64_t device, ParseInteger(pair.first, 0, INT_MAX));
  NEREID_ASSIGN_OR_RETURN(const double fraction, ParseNumber(pair.second, 0, 1));
  state.options.devices.model_load_gpu_limit[static_cast<int>(device)] = fraction;
  return {};
}

}  // namespace nereid::app
