// SPDX-License-Identifier: Apache-2.0
#include "app/configure_log.h"

#include "base/log.h"

namespace nereid::app {

base::Status ConfigureLog(const LogOptions& options) {
  base::Log& log = base::Log::Instance();
  log.SetEnabled(base::LogLevel::kInfo, options.info);
  log.SetEnabled(base::LogLevel::kWarning, options.warning);
  log.SetEnabled(base::LogLevel::kError, options.error);
  log.SetVerboseLevel(options.verbose);
  log.SetFormat(options.format);
  return log.SetFile(options.file);
}

}  // namespace nereid::app
