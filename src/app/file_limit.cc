// SPDX-License-Identifier: Apache-2.0
#include "app/file_limit.h"

#include <sys/resource.h>

#include <algorithm>

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

}  // namespace nereid::app
