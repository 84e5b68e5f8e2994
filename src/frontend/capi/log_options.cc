// SPDX-License-Identifier: Apache-2.0
// The six settings of TRITONSERVER_ServerOptions* that concern the log: they change it at once, for
// the whole process, and need no options object.
#include <string>

#include "abi/error.h"
#include "base/log.h"
#include "frontend/capi/handles.h"

using namespace nereid;

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogFile(TRITONSERVER_ServerOptions* /*options*/,
                                                         const char* file) {
  NEREID_CHECK_NOT_NULL(file);
  return abi::Guard([&] { return base::Log::Instance().SetFile(file); });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogInfo(TRITONSERVER_ServerOptions* /*options*/,
                                                         bool log) {
  base::Log::Instance().SetEnabled(base::LogLevel::kInfo, log);
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogWarn(TRITONSERVER_ServerOptions* /*options*/,
                                                         bool log) {
  base::Log::Instance().SetEnabled(base::LogLevel::kWarning, log);
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogError(TRITONSERVER_ServerOptions* /*options*/,
                                                          bool log) {
  base::Log::Instance().SetEnabled(base::LogLevel::kError, log);
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogFormat(TRITONSERVER_ServerOptions* /*options*/,
                                                           TRITONSERVER_LogFormat format) {
  return abi::Guard([&] {
    if (format != TRITONSERVER_LOG_DEFAULT && format != TRITONSERVER_LOG_ISO8601) {
      return base::Status::InvalidArgument("unknown log format " +
                                           std::to_string(static_cast<int>(format)));
    }
    base::Log::Instance().SetFormat(static_cast<base::LogFormat>(format));
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogVerbose(TRITONSERVER_ServerOptions* /*options*/,
                                                            int level) {
  base::Log::Instance().SetVerboseLevel(level);
  return nullptr;
}

}  // extern "C"
