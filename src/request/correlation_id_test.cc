// SPDX-License-Identifier: Apache-2.0
#include "request/correlation_id.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid::request {
namespace {

TEST(CheckCorrelationId, TakesOneHundredAndTwentyEightBytes) {
  EXPECT_TRUE(CheckCorrelationId("").ok());
  EXPECT_TRUE(CheckCorrelationId(std::string(128, 'x')).ok());
  const base::Status status = CheckCorrelationId(std::string(129, 'x'));
  EXPECT_EQ(status.code(), base::StatusCode::kUnsupported);
  EXPECT_EQ(status.message(), "string correlation ID cannot be longer than 128 characters");
}

}  // namespace
}  // namespace nereid::request
