// SPDX-License-Identifier: Apache-2.0
#include "base/log_tail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Messages(const LogTail& tail, uint64_t after, size_t most = 100) {
  std::vector<std::string> messages;
  for (const TailLine& line : tail.After(after, most)) {
    messages.push_back(std::to_string(line.number) + line.message);
  }
  return messages;
}

TEST(LogTail, KeepsTheLastLines) {
  LogTail tail({.lines = 3, .bytes = 1000, .line_bytes = 100});
  EXPECT_THAT(Messages(tail, 0), IsEmpty());
  for (const char* text : {"a", "b", "c", "d"}) tail.Add({.message = text}, 5);
  EXPECT_THAT(Messages(tail, 0), ElementsAre("2b", "3c", "4d"));
  EXPECT_THAT(Messages(tail, 3), ElementsAre("4d"));
  EXPECT_THAT(Messages(tail, 0, 2), ElementsAre("3c", "4d"));
  EXPECT_THAT(Messages(tail, 4), IsEmpty());
  EXPECT_THAT(Messages(tail, 1'000'000), IsEmpty());
  EXPECT_EQ(tail.last(), 4U);
}

TEST(LogTail, HasTheWholeEntry) {
  LogTail tail;
  tail.Add({.level = LogLevel::kError,
            .file = "/src/a/file.cc",
            .line = 7,
            .message = "text",
            .table = "+--+\n",
            .subject = {.model = "m", .request_id = "r", .trace_id = "t"}},
           1234);
  const TailLine line = tail.After(0, 1).front();
  EXPECT_EQ(line.time_ms, 1234U);
  EXPECT_EQ(line.level, LogLevel::kError);
  EXPECT_EQ(line.file, "file.cc");
  EXPECT_EQ(line.line, 7);
  EXPECT_EQ(line.message, "text\n+--+\n");
  EXPECT_EQ(line.model + line.request_id + line.trace_id, "mrt");
}

TEST(LogTail, ItsMemoryIsBounded) {
  LogTail tail({.lines = 100, .bytes = 250, .line_bytes = 100});
  tail.Add({.message = std::string(1'000'000, 'x')}, 0);
  EXPECT_LT(tail.After(0, 1).front().message.size(), 150U);
  for (int i = 0; i < 10; ++i) tail.Add({.message = std::string(100, 'y')}, 0);
  EXPECT_EQ(tail.After(0, 100).size(), 2U);
}

}  // namespace
}  // namespace nereid::base
