// SPDX-License-Identifier: Apache-2.0
#include <climits>
#include <cstdint>

#include "app/options/composite_flags.h"
#include "app/options/flag_values.h"

namespace nereid::app {
namespace {

using base::Status;

enum class Level { kOff, kTimestamps, kTensors };

base::Result<Level> ParseLevel(std::string_view value) {
  const std::string lower = Lowercase(value);
  if (lower == "off" || lower == "false") return Level::kOff;
  // "min" and "max" are the names of this level in Triton's first releases.
  for (std::string_view name : {"timestamps", "true", "on", "min", "max"}) {
    if (lower == name) return Level::kTimestamps;
  }
  if (lower == "tensors") return Level::kTensors;
  return Status::InvalidArgument("invalid value for trace level option: " + lower +
                                 ", expected OFF, TIMESTAMPS or TENSORS");
}

template <typename T>
Status ReadUnsigned(std::string_view value, T& target) {
  NEREID_ASSIGN_OR_RETURN(const int64_t number, ParseInteger(value, 0, UINT32_MAX));
  target = static_cast<uint32_t>(number);
  return {};
}

template <typename T>
Status ReadCount(std::string_view value, T& target) {
  NEREID_ASSIGN_OR_RETURN(const int64_t number, ParseInteger(value, -1, INT32_MAX));
  target = static_cast<int32_t>(number);
  return {};
}

Status ReadGlobalSetting(TraceOptions& trace, const std::string& setting,
                         const std::string& value) {
  if (setting == "rate") return ReadUnsigned(value, trace.rate);
  if (setting == "count") return ReadCount(value, trace.count);
  if (setting == "level") {
    NEREID_ASSIGN_OR_RETURN(const Level level, ParseLevel(value));
    trace.timestamps |= level == Level::kTimestamps;
    trace.tensors |= level == Level::kTensors;
    return {};
  }
  if (setting == "mode") {
    const std::string lower = Lowercase(value);
    if (lower != "triton" && lower != "opentelemetry") {
      return Status::InvalidArgument("invalid value for trace mode option: " + value +
                                     ". Available options are \"triton\" and \"opentelemetry\"");
    }
    trace.mode = lower == "triton" ? TraceMode::kTriton : TraceMode::kOpenTelemetry;
    return {};
  }
  return Status::InvalidArgument("unknown setting '" + setting +
                                 "', expected rate, level, count or mode");
}

Status ReadTritonSetting(TraceOptions& trace, const std::string& setting,
                         const std::string& value) {
  if (setting == "file") {
    trace.file = value;
    return {};
  }
  if (setting == "log-frequency") return ReadUnsigned(value, trace.log_frequency);
  return Status::InvalidArgument("unknown setting '" + setting +
                                 "' of mode triton, expected file or log-frequency");
}

Status ReadResource(TraceOptions& trace, const std::string& value) {
  NEREID_ASSIGN_OR_RETURN(auto pair, SplitPair(value, '=', "<attribute>=<value>"));
  for (auto& [name, present] : trace.resource) {
    if (name != pair.first) continue;
    present = pair.second;
    return {};
  }
  trace.resource.push_back(std::move(pair));
  return {};
}

Status ReadOpenTelemetrySetting(TraceOptions& trace, const std::string& setting,
                                const std::string& value) {
  if (setting == "url") {
    trace.otlp_url = value;
    return {};
  }
  if (setting == "resource") return ReadResource(trace, value);
  if (setting == "bsp_max_queue_size") return ReadUnsigned(value, trace.bsp_max_queue_size);
  if (setting == "bsp_schedule_delay") return ReadUnsigned(value, trace.bsp_schedule_delay_ms);
  if (setting == "bsp_max_export_batch_size") {
    return ReadUnsigned(value, trace.bsp_max_export_batch_size);
  }
  return Status::InvalidArgument(
      "unknown setting '" + setting +
      "' of mode opentelemetry, expected url, resource, bsp_max_queue_size, bsp_schedule_delay or "
      "bsp_max_export_batch_size");
}

}  // namespace

Status ReadTraceConfig(FlagState& state, std::string_view value) {
  NEREID_ASSIGN_OR_RETURN(
      const ScopedSetting parsed,
      ParseScopedSetting(value, {"trace-config", "trace mode", "<trace mode>,<setting>=<value>"}));
  TraceOptions& trace = state.options.trace;
  state.given.insert("trace-config " + parsed.setting);
  const bool is_global = parsed.scope.empty();
  if (is_global || parsed.scope == "triton" || parsed.scope == "opentelemetry") {
    state.setting = is_global ? parsed.setting : parsed.scope + "," + parsed.setting;
  }
  if (is_global) return ReadGlobalSetting(trace, parsed.setting, parsed.value);
  if (parsed.scope == "triton") return ReadTritonSetting(trace, parsed.setting, parsed.value);
  if (parsed.scope == "opentelemetry") {
    return ReadOpenTelemetrySetting(trace, parsed.setting, parsed.value);
  }
  return Status::InvalidArgument("invalid value for trace mode option: " + parsed.scope +
                                 ". Available options are \"triton\" and \"opentelemetry\"");
}

Status ReadOldTraceFile(FlagState& state, std::string_view value) {
  state.old_trace.file = value;
  return {};
}

Status ReadOldTraceLevel(FlagState& state, std::string_view value) {
  NEREID_ASSIGN_OR_RETURN(const Level level, ParseLevel(value));
  state.old_trace.level_off |= level == Level::kOff;
  state.old_trace.timestamps |= level == Level::kTimestamps;
  state.old_trace.tensors |= level == Level::kTensors;
  return {};
}

Status ReadOldTraceRate(FlagState& state, std::string_view value) {
  return ReadUnsigned(value, state.old_trace.rate);
}

Status ReadOldTraceCount(FlagState& state, std::string_view value) {
  return ReadCount(value, state.old_trace.count);
}

Status ReadOldTraceLogFrequency(FlagState& state, std::string_view value) {
  return ReadUnsigned(value, state.old_trace.log_frequency);
}

}  // namespace nereid::app
