// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/exception_guard.h"

#include "frontend/net/failure_log.h"

namespace nereid::frontend::http2 {

void LogException(std::string_view where, std::string_view what) noexcept {
  static base::LogThrottle throttle;
  net::LogFailure(throttle, base::LogLevel::kError, {where, " failed and was ended: ", what});
}

}  // namespace nereid::frontend::http2
