// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "api/trace_settings.h"
#include "base/result.h"

namespace nereid::codec::json {

/// The body of GET and POST /v2/trace/setting and /v2/models/M/trace/setting: all numbers are text.
std::string EncodeTraceSettings(const api::TraceSettings& settings);

/// The body of a POST: null goes back to the wider setting, an empty list of levels changes
/// nothing. Keys that there are not are passed over.
base::Result<api::TraceChanges> DecodeTraceChanges(std::string_view json);

}  // namespace nereid::codec::json
