// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "api/trace_settings.h"
#include "base/result.h"

namespace nereid::codec::json {

/// Returns the response body of GET and POST /v2/trace/setting and /v2/models/M/trace/setting. All
/// numbers are strings.
std::string EncodeTraceSettings(const api::TraceSettings& settings);

/// Reads the body of a POST. Null returns a field to the wider setting; an empty list of levels
/// changes nothing. Unknown keys are ignored.
base::Result<api::TraceChanges> DecodeTraceChanges(std::string_view json);

}  // namespace nereid::codec::json
