// SPDX-License-Identifier: Apache-2.0
#include "base/background.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace nereid::base {
namespace {

/// Returns the attributes of a new thread of the calling one.
std::optional<SchedulingAttributes> OfANewThread() {
  std::optional<SchedulingAttributes> found;
  std::thread([&] { found = ReadScheduling(); }).join();
  return found;
}

TEST(BackgroundTest, LastsAsLongAsTheObjectAndIsNotInherited) {
  const auto before = ReadScheduling();
  if (!before || before->runtime == 0) GTEST_SKIP() << "the kernel has no slices of threads";
  if (!WithSlice(*before, 1)) GTEST_SKIP() << "the tests run with a priority of their own";
  {
    const ScopedBackground background;
    EXPECT_GT(ReadScheduling()->runtime, before->runtime);
    EXPECT_EQ(OfANewThread()->runtime, before->runtime);
    { const ScopedBackground nested; }
    LetOthersGoFirst();
    EXPECT_GT(ReadScheduling()->runtime, before->runtime);
    EXPECT_EQ(ReadScheduling()->nice, before->nice);
  }
  EXPECT_EQ(ReadScheduling()->runtime, before->runtime);
}

}  // namespace
}  // namespace nereid::base
