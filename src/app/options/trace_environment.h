// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "app/options/flag_state.h"
#include "base/status.h"

namespace nereid::app {

/// Returns the value of an environment variable or null, like getenv. Empty: there are none.
using Environment = std::function<const char*(const char* name)>;

/// Takes those environment variables of OpenTelemetry that Triton follows in mode opentelemetry:
/// OTEL_BSP_*, OTEL_EXPORTER_OTLP_[TRACES_]ENDPOINT, …_HEADERS, …_CERTIFICATE and
/// OTEL_RESOURCE_ATTRIBUTES. A setting of --trace-config takes precedence. Returns INVALID_ARGUMENT
/// with the name of a variable that cannot be used.
base::Status ApplyTraceEnvironment(const Environment& environment, FlagState& state);

}  // namespace nereid::app
