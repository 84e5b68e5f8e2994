// SPDX-License-Identifier: Apache-2.0
// The variables are those of the OpenTelemetry specification, "Environment Variable Specification"
// and "OpenTelemetry Protocol Exporter".
#include "app/options/trace_environment.h"

#include <cctype>

#include "app/options/flag_values.h"
#include "app/options/flag_words.h"

namespace nereid::app {
namespace {

using base::Status;

class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  /// Returns a variable's value; "" if it is not set, which the specification treats alike.
  std::string operator()(const std::string& name) const {
    const char* const value = environment_ ? environment_(name.c_str()) : nullptr;
    return value != nullptr ? value : "";
  }
  /// Returns the variable for traces or, without it, the one for all signals.
  std::string OfExporter(const std::string& name) const {
    const std::string own = (*this)("OTEL_EXPORTER_OTLP_TRACES_" + name);
    return own.empty() ? (*this)("OTEL_EXPORTER_OTLP_" + name) : own;
  }

 private:
  const Environment& environment_;
};

Status BadVariable(const std::string& name, const std::string& reason) {
  return Status::InvalidArgument(OneLine("Bad option: \"" + name + "\". " + reason));
}

std::string WithoutSpace(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

/// Replaces "%41" by "A". Other text stays.
std::string PercentDecoded(const std::string& text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_code = text[i] == '%' && i + 2 < text.size() &&
                         std::isxdigit(static_cast<unsigned char>(text[i + 1])) != 0 &&
                         std::isxdigit(static_cast<unsigned char>(text[i + 2])) != 0;
    if (!is_code) {
      decoded += text[i];
      continue;
    }
    decoded += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
    i += 2;
  }
  return decoded;
}

/// Reads "key=value,key=value" with percent-encoded values.
Status ReadPairs(const std::string& name, const std::string& text, Settings* pairs) {
  for (const std::string& part : SplitList(text)) {
    const std::string pair = WithoutSpace(part);
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    const std::string key = WithoutSpace(std::string_view(pair).substr(0, equals));
    if (equals == pair.npos || key.empty()) {
      return BadVariable(name, "expected <key>=<value>[,<key>=<value>…], found: " + pair);
    }
    pairs->emplace_back(key, PercentDecoded(WithoutSpace(pair.substr(equals + 1))));
  }
  return {};
}

Status ReadBatch(const Variables& variables, const FlagState& state, const std::string& setting,
                 const std::string& name, uint32_t* target) {
  const std::string value = variables(name);
  if (value.empty() || state.Given("trace-config " + setting)) return {};
  const base::Result<int64_t> number = ParseInteger(value, 0, UINT32_MAX);
  if (!number.ok()) return BadVariable(name, number.status().message());
  *target = static_cast<uint32_t>(*number);
  return {};
}

}  // namespace

Status ApplyTraceEnvironment(const Environment& environment, FlagState& state) {
  TraceOptions& trace = state.options.trace;
  if (trace.mode != TraceMode::kOpenTelemetry) return {};
  const Variables variables(environment);
  NEREID_RETURN_IF_ERROR(ReadBatch(variables, state, "bsp_max_queue_size",
                                   "OTEL_BSP_MAX_QUEUE_SIZE", &trace.bsp_max_queue_size));
  NEREID_RETURN_IF_ERROR(ReadBatch(variables, state, "bsp_schedule_delay",
                                   "OTEL_BSP_SCHEDULE_DELAY", &trace.bsp_schedule_delay_ms));
  NEREID_RETURN_IF_ERROR(ReadBatch(variables, state, "bsp_max_export_batch_size",
                                   "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
                                   &trace.bsp_max_export_batch_size));
  const std::string of_traces = variables("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  std::string of_all = variables("OTEL_EXPORTER_OTLP_ENDPOINT");
  if (!of_traces.empty()) {
    trace.default_otlp_url = of_traces;
  } else if (!of_all.empty()) {
    if (of_all.back() == '/') of_all.pop_back();
    trace.default_otlp_url = of_all + "/v1/traces";
  }
  trace.otlp_certificate = variables.OfExporter("CERTIFICATE");
  NEREID_RETURN_IF_ERROR(ReadPairs("OTEL_EXPORTER_OTLP_HEADERS", variables.OfExporter("HEADERS"),
                                   &trace.otlp_headers));
  return ReadPairs("OTEL_RESOURCE_ATTRIBUTES", variables("OTEL_RESOURCE_ATTRIBUTES"),
                   &trace.environment_resource);
}

}  // namespace nereid::app
