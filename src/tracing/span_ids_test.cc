// SPDX-License-Identifier: Apache-2.0
#include "tracing/span_ids.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace nereid::tracing {
namespace {

TEST(SpanIds, DifferInEveryThread) {
  constexpr int kThreads = 4;
  constexpr int kIds = 2000;
  std::vector<std::vector<SpanId>> made(kThreads);
  {
    std::vector<std::thread> threads;
    for (auto& ids : made) {
      threads.emplace_back([&ids] {
        for (int i = 0; i < kIds; ++i) ids.push_back(NewSpanId());
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::set<SpanId> all;
  for (const auto& ids : made) all.insert(ids.begin(), ids.end());
  EXPECT_EQ(all.size(), size_t{kThreads} * kIds);
  EXPECT_FALSE(all.contains(SpanId{}));
}

TEST(SpanIds, UseAllBits) {
  TraceId ones{};
  TraceId zeros{};
  for (int i = 0; i < 200; ++i) {
    const TraceId id = NewTraceId();
    for (size_t byte = 0; byte < id.size(); ++byte) {
      ones[byte] |= id[byte];
      zeros[byte] |= static_cast<uint8_t>(~id[byte]);
    }
  }
  for (size_t byte = 0; byte < ones.size(); ++byte) {
    EXPECT_EQ(ones[byte], 0xff);
    EXPECT_EQ(zeros[byte], 0xff);
  }
}

}  // namespace
}  // namespace nereid::tracing
