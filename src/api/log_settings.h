// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"

namespace nereid::api {

/// The `logging` extension: the settings of the process's log. They belong to no server, so there
/// is nothing to ask for them but the log itself.
struct LogSettings {
  std::string file;  // "": the standard streams
  bool info = true;
  bool warning = true;
  bool error = true;
  uint32_t verbose_level = 0;
  base::LogFormat format = base::LogFormat::kDefault;
};

/// What a client wants otherwise; the rest stays.
struct LogChanges {
  std::optional<bool> info;
  std::optional<bool> warning;
  std::optional<bool> error;
  std::optional<uint32_t> verbose_level;
  std::optional<base::LogFormat> format;
};

LogSettings GetLogSettings();
void ChangeLogSettings(const LogChanges& changes);

/// "default" or "ISO8601".
std::string_view LogFormatName(base::LogFormat format);
std::optional<base::LogFormat> FindLogFormat(std::string_view name);

/// UNSUPPORTED: what every wire says about `log_file`.
base::Status LogFileIsFixed();

}  // namespace nereid::api
