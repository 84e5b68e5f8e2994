// SPDX-License-Identifier: Apache-2.0
#include "base/narrow.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace nereid::base {
namespace {

TEST(NarrowTest, IntegersKeepTheirValueOrAreRefused) {
  EXPECT_EQ(Narrow<int8_t>(int64_t{-128}), -128);
  EXPECT_EQ(Narrow<int8_t>(int64_t{-129}), std::nullopt);
  EXPECT_EQ(Narrow<int8_t>(uint64_t{127}), 127);
  EXPECT_EQ(Narrow<int8_t>(uint64_t{128}), std::nullopt);
  EXPECT_EQ(Narrow<uint16_t>(uint64_t{65535}), 65535);
  EXPECT_EQ(Narrow<uint16_t>(uint64_t{65536}), std::nullopt);
  EXPECT_EQ(Narrow<uint64_t>(int64_t{-1}), std::nullopt);
  EXPECT_EQ(Narrow<int64_t>(uint64_t{1} << 63), std::nullopt);
}

TEST(NarrowTest, OnlyInfinityBecomesInfinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Narrow<float>(-kInfinity), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(Narrow<float>(3.4028235e38), std::numeric_limits<float>::max());
  EXPECT_EQ(Narrow<float>(3.5e38), std::nullopt);
  EXPECT_EQ(Narrow<float>(-1e300), std::nullopt);
  EXPECT_EQ(Narrow<float>(1e-300), 0.0F);
  EXPECT_TRUE(std::isnan(*Narrow<float>(std::numeric_limits<double>::quiet_NaN())));
}

TEST(NarrowTest, TheRefusalNamesSubjectValueAndType) {
  EXPECT_EQ(OutOfRange("input 'IN'", "300", "INT8").message(),
            "input 'IN' has the value 300, which INT8 cannot hold");
  EXPECT_EQ(OutOfRange("x", std::string(41, '1'), "INT8").message(),
            "x has the value " + std::string(40, '1') + "..., which INT8 cannot hold");
}

}  // namespace
}  // namespace nereid::base
