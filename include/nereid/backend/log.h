// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nereid/backend/error.h"

namespace nereid::backend {

/// Writes one line to the server's log. Errors are ignored.
inline void Log(TRITONSERVER_LogLevel level, const char* file, int line,
                const std::string& message) {
  Error ignored(TRITONSERVER_LogMessage(level, file, line, message.c_str()));
}

}  // namespace nereid::backend

/// Logs `text`, which is evaluated only if the level is enabled. Levels: INFO, WARN, ERROR,
/// VERBOSE.
#define NEREID_BACKEND_LOG(level, text)                                             \
  do {                                                                              \
    if (TRITONSERVER_LogIsEnabled(TRITONSERVER_LOG_##level)) {                      \
      ::nereid::backend::Log(TRITONSERVER_LOG_##level, __FILE__, __LINE__, (text)); \
    }                                                                               \
  } while (false)
