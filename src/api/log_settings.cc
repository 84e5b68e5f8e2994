// SPDX-License-Identifier: Apache-2.0
#include "api/log_settings.h"

#include <algorithm>
#include <climits>

namespace nereid::api {

using base::Log;
using base::LogFormat;
using base::LogLevel;

LogSettings GetLogSettings() {
  const Log& log = Log::Instance();
  LogSettings settings;
  settings.file = log.file();
  settings.info = log.IsEnabled(LogLevel::kInfo);
  settings.warning = log.IsEnabled(LogLevel::kWarning);
  settings.error = log.IsEnabled(LogLevel::kError);
  settings.verbose_level = static_cast<uint32_t>(std::max(0, log.verbose_level()));
  settings.format = log.format();
  return settings;
}

void ChangeLogSettings(const LogChanges& changes) {
  Log& log = Log::Instance();
  if (changes.info) log.SetEnabled(LogLevel::kInfo, *changes.info);
  if (changes.warning) log.SetEnabled(LogLevel::kWarning, *changes.warning);
  if (changes.error) log.SetEnabled(LogLevel::kError, *changes.error);
  if (changes.verbose_level) {
    log.SetVerboseLevel(static_cast<int>(std::min<uint32_t>(*changes.verbose_level, INT_MAX)));
  }
  if (changes.format) log.SetFormat(*changes.format);
}

std::string_view LogFormatName(LogFormat format) {
  switch (format) {
    case LogFormat::kDefault:
      return "default";
    case LogFormat::kIso8601:
      return "ISO8601";
    case LogFormat::kJson:
      return "json";
  }
  return "default";
}

std::optional<LogFormat> FindLogFormat(std::string_view name) {
  for (const LogFormat format : {LogFormat::kDefault, LogFormat::kIso8601, LogFormat::kJson}) {
    if (LogFormatName(format) == name) return format;
  }
  return std::nullopt;
}

base::Status LogFileIsFixed() {
  return base::Status::Unsupported("log file location can not be updated through network protocol");
}

}  // namespace nereid::api
