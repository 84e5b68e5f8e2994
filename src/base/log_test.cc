// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "base/files.h"
#include "base/testing/failing_allocation.h"

namespace nereid::base {
namespace {

TEST(Log, ALineWithoutMemoryIsLost) {
  const std::string path = ::testing::TempDir() + "log_test_" + std::to_string(getpid());
  const std::string long_text(1000, 'x');
  ASSERT_TRUE(Log::Instance().SetFile(path).ok());
  {
    const testing::FailingAllocation no_memory;
    LOG_ERROR << long_text;
  }
  LOG_ERROR << "the next line";
  ASSERT_TRUE(Log::Instance().SetFile("").ok());
  const std::string log = ReadFile(path).value();
  std::remove(path.c_str());
  EXPECT_EQ(log.find(long_text), std::string::npos);
  EXPECT_NE(log.find("the next line"), std::string::npos);
}

}  // namespace
}  // namespace nereid::base
