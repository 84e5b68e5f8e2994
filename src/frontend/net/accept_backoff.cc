// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/accept_backoff.h"

#include <sys/resource.h>

#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_throttle.h"

namespace nereid::frontend::net {
namespace {

constexpr std::chrono::milliseconds kPause{100};

std::string Advice(int error) {
  if (error == ENFILE) return "; the system's limit is fs.file-max";
  if (error != EMFILE) return "";
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return "";
  return "; this process may have " + std::to_string(limit.rlim_cur) +
         " (ulimit -n, LimitNOFILE of systemd, --ulimit nofile of Docker)";
}

void LogFailure(const std::string& service, const boost::system::error_code& error) {
  static base::LogThrottle throttle;
  uint64_t left_out = 0;
  if (!throttle.Admit(base::SteadyClock().NowNs(), &left_out)) return;
  LOG_WARNING << service << ": cannot accept connections: " << error.message()
              << Advice(error.value());
}

}  // namespace

std::chrono::milliseconds PauseAfterAccept(int error) {
  switch (error) {
    // The connection was gone before it was accepted, or its network has a fault (accept(2)).
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
    default:  // EMFILE, ENFILE, ENOBUFS, ENOMEM, and what nobody knows: never in a tight loop
      return kPause;
  }
}

void AcceptBackoff::Retry(const boost::system::error_code& error, std::function<void()> accept) {
  const std::chrono::milliseconds pause = PauseAfterAccept(error.value());
  if (pause.count() == 0) return accept();
  LogFailure(service_, error);
  timer_.expires_after(pause);
  timer_.async_wait([accept = std::move(accept)](const boost::system::error_code& cancelled) {
    if (!cancelled) accept();
  });
}

void AcceptBackoff::Cancel() { timer_.cancel(); }

}  // namespace nereid::frontend::net
