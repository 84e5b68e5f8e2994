// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/log_settings.h"
#include "base/result.h"

namespace inference {
class LogSettingsRequest;
class LogSettingsResponse;
}  // namespace inference

namespace nereid::codec::proto {

/// Returns the changes that a client asks for. Unknown settings are ignored. Returns
/// INVALID_ARGUMENT for a value of the wrong type or an unknown format, and UNSUPPORTED for
/// log_file.
base::Result<api::LogChanges> DecodeLogChanges(const inference::LogSettingsRequest& message);

/// Fills the message of the log's settings.
void EncodeLogSettings(const api::LogSettings& settings, inference::LogSettingsResponse* message);

}  // namespace nereid::codec::proto
