// SPDX-License-Identifier: Apache-2.0
#include "app/file_limit.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace nereid::app {
namespace {

TEST(RaiseFileLimit, RaisesTheSoftLimit) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 64;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  RaiseFileLimit();
  rlimit after{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_max, before.rlim_max);
  if (before.rlim_max > 64) {
    EXPECT_GT(after.rlim_cur, 64u);
  }
  EXPECT_LE(after.rlim_cur, rlim_t{1} << 20);
  setrlimit(RLIMIT_NOFILE, &before);
}

/// Returns the size of the kernel's table of descriptors.
long TableSize() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    long size = 0;
    if (word == "FDSize:" && status >> size) return size;
  }
  return 0;
}

TEST(ReserveDescriptors, GrowsTheTableAndLeavesNothingOpen) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(next);
  ReserveDescriptors();
  EXPECT_GE(TableSize(), static_cast<long>(std::min(before.rlim_cur, rlim_t{16384})));
  const int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(after);
  EXPECT_EQ(after, next);
}

TEST(MaxConnections, LeavesDescriptorsForModels) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  for (const rlim_t files : {rlim_t{400}, rlim_t{64}}) {
    rlimit low = before;
    low.rlim_cur = files;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    EXPECT_EQ(MaxConnections(), files * 3 / 4);
  }
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST(MaxSharedRegions, LeavesDescriptorsForTheRest) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 400;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(MaxSharedRegions(), 100u);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_LE(MaxSharedRegions(), 1024u);
}

}  // namespace
}  // namespace nereid::app
