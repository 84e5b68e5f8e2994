// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "api/log_settings.h"
#include "base/result.h"

namespace nereid::codec::json {

/// Returns the response body of the log settings.
std::string EncodeLogSettings(const api::LogSettings& settings);

/// Reads the body of a request that changes log settings. A member that is null or unknown is
/// ignored. Returns INTERNAL for a value of the wrong type, UNAVAILABLE for an unknown format, and
/// UNSUPPORTED for log_file.
base::Result<api::LogChanges> DecodeLogChanges(std::string_view json);

}  // namespace nereid::codec::json
