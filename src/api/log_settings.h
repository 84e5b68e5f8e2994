// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"

namespace nereid::api {

/// The settings of the `logging` extension. They belong to the process's log and not to a server,
/// so the functions below need no InferenceService.
struct LogSettings {
  std::string file;  // "": the standard streams
  bool info = true;
  bool warning = true;
  bool error = true;
  uint32_t verbose_level = 0;
  base::LogFormat format = base::LogFormat::kDefault;
};

/// The changes that a client requests; a setting without a value stays as it is.
struct LogChanges {
  std::optional<bool> info;
  std::optional<bool> warning;
  std::optional<bool> error;
  std::optional<uint32_t> verbose_level;
  std::optional<base::LogFormat> format;
};

LogSettings GetLogSettings();
void ChangeLogSettings(const LogChanges& changes);

/// Returns "default", "ISO8601" or "json".
std::string_view LogFormatName(base::LogFormat format);
std::optional<base::LogFormat> FindLogFormat(std::string_view name);

/// Returns the UNSUPPORTED error of every protocol for a change of `log_file`.
base::Status LogFileIsFixed();

}  // namespace nereid::api
