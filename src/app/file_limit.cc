// SPDX-License-Identifier: Apache-2.0
#include "app/file_limit.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>

#include "base/unique_fd.h"

namespace nereid::app {

void RaiseFileLimit() {
  constexpr rlim_t kEnough = rlim_t{1} << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min(limit.rlim_max, kEnough);
  if (wanted <= limit.rlim_cur) return;
  limit.rlim_cur = wanted;
  (void)!setrlimit(RLIMIT_NOFILE, &limit);
}

void ReserveDescriptors() {
  constexpr rlim_t kReserved = 16384;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == 0) return;
  const base::UniqueFd low(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (low.get() < 0) return;
  const auto highest = static_cast<int>(std::min(limit.rlim_cur, kReserved) - 1);
  const base::UniqueFd high(fcntl(low.get(), F_DUPFD_CLOEXEC, highest));
}

size_t MaxConnections() {
  constexpr rlim_t kKept = 256;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return limit.rlim_cur - std::min(limit.rlim_cur / 4, kKept);
}

size_t MaxSharedRegions() {
  constexpr rlim_t kMost = 1024;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMost;
  return std::min(limit.rlim_cur / 4, kMost);
}

}  // namespace nereid::app
