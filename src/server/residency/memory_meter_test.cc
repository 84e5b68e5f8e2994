// SPDX-License-Identifier: Apache-2.0
#include "server/residency/memory_meter.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

namespace nereid::server {
namespace {

constexpr const char* kStatus =
    "Name:\tnereid\nVmRSS:\t  9000 kB\nRssAnon:\t    1200 kB\nRssFile:\t    7000 kB\n"
    "RssShmem:\t     800 kB\n";

TEST(MemoryMeterTest, OwnMemoryOfAStatusFileIsAnonymousAndShared) {
  EXPECT_EQ(ParseOwnMemory(kStatus, false), 1200u * 1024);
  EXPECT_EQ(ParseOwnMemory(kStatus, true), 2000u * 1024);
}

TEST(MemoryMeterTest, OtherTextsHaveNoMemory) {
  for (const char* const text : {"", "RssAnon:", "RssAnon: kB", "Rss", "RssAnon:\t"}) {
    EXPECT_EQ(ParseOwnMemory(text, true), 0u) << text;
  }
}

TEST(MemoryMeterTest, TheProcessHasMemoryThatGrows) {
  const uint64_t before = OwnMemory();
  ASSERT_GT(before, 0u);
  constexpr size_t kBytes = size_t{64} << 20;
  MemoryMeter meter;
  std::vector<char> kept;
  const uint64_t grown = meter.Measure([&] { kept.assign(kBytes, 'x'); });
  EXPECT_GE(grown, kBytes * 9 / 10);
#if !defined(__SANITIZE_THREAD__)  // which keeps a shadow of the memory several times as large
  EXPECT_LE(grown, kBytes * 2);
#endif
}

TEST(MemoryMeterTest, ALoadThatFreesMemoryHasNoSize) {
  uint64_t memory = 500;
  MemoryMeter meter([&memory] { return memory; });
  EXPECT_EQ(meter.Measure([&memory] { memory = 800; }), 300u);
  EXPECT_EQ(meter.Measure([&memory] { memory = 100; }), 0u);
}

TEST(SizeEstimateTest, TheMedianOfTheLastFiveCounts) {
  SizeEstimate size;
  EXPECT_EQ(size.Median(), 0u);
  size.Add(900);
  EXPECT_EQ(size.Median(), 900u);
  size.Add(100);
  EXPECT_EQ(size.Median(), 900u) << "the greater one of two";
  size.Add(110);
  EXPECT_EQ(size.Median(), 110u);
  for (int i = 0; i < 5; ++i) size.Add(100);
  EXPECT_EQ(size.Median(), 100u);
}

}  // namespace
}  // namespace nereid::server
