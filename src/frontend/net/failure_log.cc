// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/failure_log.h"

#include <exception>
#include <string>

#include "base/clock.h"

namespace nereid::frontend::net {

void LogFailure(base::LogThrottle& throttle, base::LogLevel level,
                std::initializer_list<std::string_view> text, const char* file, int line) noexcept {
  uint64_t left_out = 0;
  base::Log& log = base::Log::Instance();
  if (!log.IsEnabled(level) || !throttle.Admit(base::SteadyClock().NowNs(), &left_out)) return;
  try {
    std::string message;
    for (const std::string_view piece : text) message += piece;
    if (left_out != 0) message += "; it happened to others since the last such message, too";
    log.Write({.level = level, .file = file, .line = line, .message = message});
  } catch (const std::exception&) {
    // There may be memory for the next message.
  }
}

}  // namespace nereid::frontend::net
