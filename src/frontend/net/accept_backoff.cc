// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/accept_backoff.h"

#include <sys/resource.h>

#include <cerrno>
#include <system_error>

#include "frontend/net/failure_log.h"

namespace nereid::frontend::net {
namespace {

std::string Advice(int error) {
  if (error == ENFILE) return "; the system's limit is fs.file-max";
  if (error != EMFILE) return "";
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return "";
  return "; this process may have " + std::to_string(limit.rlim_cur) +
         " (ulimit -n, LimitNOFILE of systemd, --ulimit nofile of Docker)";
}

}  // namespace

std::chrono::milliseconds PauseAfterAccept(int error) {
  switch (error) {
    // The connection ended before it was accepted, or its network has a fault (accept(2)).
    case EAGAIN:
    case EINTR:
    case ECONNABORTED:
    case EPERM:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
      return std::chrono::milliseconds{0};
    default:  // EMFILE, ENFILE, ENOBUFS, ENOMEM, and unknown errors: never in a tight loop
      return kAcceptPause;
  }
}

std::string ReasonOfAcceptFailure(int error) {
  return std::generic_category().message(error) + Advice(error);
}

void LogAcceptFailure(std::string_view service, std::string_view reason) noexcept {
  static base::LogThrottle throttle;
  LogFailure(throttle, base::LogLevel::kWarning,
             {service, ": cannot accept connections: ", reason});
}

}  // namespace nereid::frontend::net
