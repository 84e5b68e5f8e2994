// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/thread_shortage.h"

namespace nereid::base {
namespace {

TEST(ParallelTest, EachNumberIsDoneOnceWithTheThreadsThatThereAre) {
  for (const int64_t left : {0, 1, 3}) {
    const ThreadShortage shortage(left);
    std::vector<std::atomic<int>> calls(100);
    ForEachOnThreads("each", 4, calls.size(), [&](size_t i) { ++calls[i]; });
    for (const auto& count : calls) EXPECT_EQ(count.load(), 1);
  }
  ForEachOnThreads("none", 4, 0, [](size_t) { FAIL(); });
}

TEST(ParallelTest, AnExceptionOfAHelperReachesTheCaller) {
  const auto caller = std::this_thread::get_id();
  const auto work = [caller] {
    if (std::this_thread::get_id() != caller) throw std::runtime_error("a helper's");
  };
  EXPECT_THROW(RunOnThreads("throws", 3, work), std::runtime_error);
  EXPECT_NO_THROW(RunOnThreads("alone", 1, work));
}

}  // namespace
}  // namespace nereid::base
