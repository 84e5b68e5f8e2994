// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string_view>

#include "base/log.h"
#include "base/log_throttle.h"

namespace nereid::frontend::net {

/// Writes the pieces of a text as one line to the log, at most as often as `throttle` admits.
/// Writes nothing without memory: an event loop reports failures when memory has run out and must
/// continue, whereas LOG_ERROR would end the process. `file` and `line` are the caller's position.
/// Thread-safe.
void LogFailure(base::LogThrottle& throttle, base::LogLevel level,
                std::initializer_list<std::string_view> text, const char* file = __builtin_FILE(),
                int line = __builtin_LINE()) noexcept;

}  // namespace nereid::frontend::net
