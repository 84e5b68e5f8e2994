// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "abi/error.h"
#include "base/log.h"
#include "triton/core/tritonserver.h"

using namespace nereid;

namespace {

bool IsLevel(TRITONSERVER_LogLevel level) {
  return level >= TRITONSERVER_LOG_INFO && level <= TRITONSERVER_LOG_VERBOSE;
}

/// The enumerators of both enums have the same values.
base::LogLevel ToLevel(TRITONSERVER_LogLevel level) { return static_cast<base::LogLevel>(level); }

}  // namespace

extern "C" {

bool TRITONSERVER_LogIsEnabled(TRITONSERVER_LogLevel level) {
  return IsLevel(level) && base::Log::Instance().IsEnabled(ToLevel(level));
}

TRITONSERVER_Error* TRITONSERVER_LogMessage(TRITONSERVER_LogLevel level, const char* filename,
                                            int line, const char* msg) {
  NEREID_CHECK_NOT_NULL(filename, msg);
  return abi::Guard([&] {
    if (!IsLevel(level)) {
      return base::Status::InvalidArgument("unknown logging level '" +
                                           std::to_string(static_cast<int>(level)) + "'");
    }
    base::Log& log = base::Log::Instance();
    if (log.IsEnabled(ToLevel(level))) {
      log.Write({.level = ToLevel(level), .file = filename, .line = line, .message = msg});
    }
    return base::Status::Ok();
  });
}

}  // extern "C"
