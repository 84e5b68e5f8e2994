// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "api/log_settings.h"
#include "base/result.h"

namespace nereid::codec::json {

/// The body of an answer about the log.
std::string EncodeLogSettings(const api::LogSettings& settings);

/// The body of a request to change it. A member that is null or unknown changes nothing. INTERNAL
/// for a value of another type, UNAVAILABLE for an unknown format, UNSUPPORTED for a file.
base::Result<api::LogChanges> DecodeLogChanges(std::string_view json);

}  // namespace nereid::codec::json
