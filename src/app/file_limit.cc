// SPDX-License-Identifier: Apache-2.0
#include "app/file_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>

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
