// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/failure_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/files.h"
#include "base/testing/failing_allocation.h"

namespace nereid::frontend::net {
namespace {

TEST(LogFailure, WritesALineNowAndThen) {
  const std::string path = ::testing::TempDir() + "failure_log_" + std::to_string(getpid());
  ASSERT_TRUE(base::Log::Instance().SetFile(path).ok());
  base::LogThrottle throttle, other;
  for (int i = 0; i < 3; ++i) LogFailure(throttle, base::LogLevel::kError, {"it ", "failed"});
  LogFailure(other, base::LogLevel::kWarning, {"and this"});
  ASSERT_TRUE(base::Log::Instance().SetFile("").ok());
  const std::string log = base::ReadFile(path).value();
  std::remove(path.c_str());
  EXPECT_NE(log.find("it failed"), std::string::npos) << log;
  EXPECT_EQ(log.find("it failed"), log.rfind("it failed")) << log;
  EXPECT_NE(log.find("failure_log_test.cc"), std::string::npos) << log;
  EXPECT_NE(log.find("and this"), std::string::npos) << log;
}

TEST(LogFailure, NeedsNoMemory) {
  base::LogThrottle throttle;
  const base::testing::FailingAllocation no_memory;
  LogFailure(throttle, base::LogLevel::kError, {"a text that is longer than a short string"});
}

}  // namespace
}  // namespace nereid::frontend::net
