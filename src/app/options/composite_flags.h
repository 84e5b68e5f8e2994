// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "app/options/flag_state.h"
#include "base/status.h"

namespace nereid::app {

/// Readers of the flags whose values have a syntax of their own. Each function checks one value and
/// stores it in `state`. Returns INVALID_ARGUMENT with the reason for a wrong value.

base::Status ReadLogVerbose(FlagState& state, std::string_view value);
base::Status ReadLogFormat(FlagState& state, std::string_view value);
base::Status ReadModelRepository(FlagState& state, std::string_view value);
base::Status ReadModelControlMode(FlagState& state, std::string_view value);
base::Status ReadModelConfigName(FlagState& state, std::string_view value);
base::Status ReadLoadModel(FlagState& state, std::string_view value);
base::Status ReadPinnedModel(FlagState& state, std::string_view value);
base::Status ReadInlineExecution(FlagState& state, std::string_view value);
base::Status ReadClientShm(FlagState& state, std::string_view value);
base::Status ReadCpuPlan(FlagState& state, std::string_view value);
base::Status ReadUnixSocketMode(FlagState& state, std::string_view value);
base::Status ReadSequenceIdHeader(FlagState& state, std::string_view value);
base::Status ReadReplicaName(FlagState& state, std::string_view value);
base::Status ReadSequenceHandoverPeers(FlagState& state, std::string_view value);
base::Status ReadCorsOrigins(FlagState& state, std::string_view value);
base::Status ReadHttpRestricted(FlagState& state, std::string_view value);
base::Status ReadGrpcRestricted(FlagState& state, std::string_view value);
base::Status ReadCompressionLevel(FlagState& state, std::string_view value);
base::Status ReadSafePortRange(FlagState& state, std::string_view value);
base::Status ReadMetricsInterval(FlagState& state, std::string_view value);
base::Status ReadMetricsConfig(FlagState& state, std::string_view value);
base::Status ReadBackendConfig(FlagState& state, std::string_view value);
base::Status ReadCacheConfig(FlagState& state, std::string_view value);
base::Status ReadRateLimit(FlagState& state, std::string_view value);
base::Status ReadRateLimitResource(FlagState& state, std::string_view value);
base::Status ReadCudaPoolSize(FlagState& state, std::string_view value);
base::Status ReadCudaAddressSize(FlagState& state, std::string_view value);
base::Status ReadHostPolicy(FlagState& state, std::string_view value);
base::Status ReadGpuLimit(FlagState& state, std::string_view value);

// trace_flags.cc
base::Status ReadTraceConfig(FlagState& state, std::string_view value);
base::Status ReadOldTraceFile(FlagState& state, std::string_view value);
base::Status ReadOldTraceLevel(FlagState& state, std::string_view value);
base::Status ReadOldTraceRate(FlagState& state, std::string_view value);
base::Status ReadOldTraceCount(FlagState& state, std::string_view value);
base::Status ReadOldTraceLogFrequency(FlagState& state, std::string_view value);

}  // namespace nereid::app
