// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "api/trace_settings.h"
#include "base/result.h"

namespace inference {
class TraceSettingRequest;
class TraceSettingResponse;
}  // namespace inference

namespace nereid::codec::proto {

/// Returns the changes that a client asks for; nothing if the message has no settings. An empty
/// list of values returns a setting to the wider one. Unknown settings are ignored. Returns
/// INVALID_ARGUMENT for a value that is out of range, and UNSUPPORTED for trace_file.
base::Result<std::optional<api::TraceChanges>> DecodeTraceChanges(
    const inference::TraceSettingRequest& message);

/// Fills the message of the trace settings. All numbers are texts.
void EncodeTraceSettings(const api::TraceSettings& settings,
                         inference::TraceSettingResponse* message);

}  // namespace nereid::codec::proto
