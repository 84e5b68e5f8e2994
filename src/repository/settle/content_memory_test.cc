// SPDX-License-Identifier: Apache-2.0
#include "repository/settle/content_memory.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_directory.h"

namespace nereid::repository {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kOld = 5'000'000'001;  // the time of the stamps
constexpr FileStamps kStamps{kOld, kOld, 10, 1};
constexpr int64_t kSoon = kOld + 1 * kMs;  // within the same tick
constexpr int64_t kLater = kOld + 1'000 * kMs;

/// A file whose content the test changes without its stamps.
class ContentMemoryTest : public ::testing::TestWithParam<bool> {
 protected:
  uint64_t Number(const FileStamps& stamps, int64_t looked_ns) {
    return memory_.NumberOf("f", stamps, looked_ns);
  }
  uint64_t content_ = 1;
  int reads_ = 0;
  ContentMemory memory_{GetParam(), [this](const std::string&) {
                          ++reads_;
                          return std::optional(content_);
                        }};
};

INSTANTIATE_TEST_SUITE_P(WithAndWithoutChangeTimes, ContentMemoryTest, ::testing::Bool());

TEST_P(ContentMemoryTest, AFileThatIsOldIsNotRead) {
  const uint64_t first = Number(kStamps, kLater);
  EXPECT_EQ(Number(kStamps, kLater + 1), first);
  EXPECT_EQ(reads_, 0);
}

TEST_P(ContentMemoryTest, AChangeWithinATickIsFound) {
  const uint64_t first = Number(kStamps, kSoon);
  content_ = 2;
  const uint64_t second = Number(kStamps, kSoon + 1);
  EXPECT_NE(second, first);
  content_ = 3;
  const uint64_t third = Number(kStamps, kLater);
  EXPECT_NE(third, second);
  EXPECT_EQ(reads_, 3);
  EXPECT_EQ(Number(kStamps, kLater + 1), third);
  EXPECT_EQ(reads_, 3) << "the tick is over: every later change gets other stamps";
}

TEST_P(ContentMemoryTest, FileSystemsWithWholeSecondsHaveLongTicks) {
  const FileStamps coarse{5'000'000'000, 5'000'000'000, 10, 1};
  const uint64_t first = Number(coarse, coarse.changed_ns + 1'500 * kMs);
  content_ = 2;
  EXPECT_NE(Number(coarse, coarse.changed_ns + 1'600 * kMs), first);
}

TEST_P(ContentMemoryTest, OnlyTheChangeTimeShowsThatAProgramHasSetTheOther) {
  const uint64_t first = Number(kStamps, kLater);
  FileStamps restored = kStamps;
  restored.changed_ns = kLater;
  const uint64_t second = Number(restored, kLater + 1'000 * kMs);
  EXPECT_EQ(second != first, GetParam());
  restored.changed_ns += 1'000 * kMs;  // the permissions were changed: the content is the same
  EXPECT_EQ(Number(restored, kLater + 3'000 * kMs), second);
  restored.changed_ns += 1'000 * kMs;
  content_ = 2;
  EXPECT_EQ(Number(restored, kLater + 4'000 * kMs) != second, GetParam());
  EXPECT_EQ(reads_, GetParam() ? 3 : 0);
}

TEST(HashContentTest, DependsOnEveryByte) {
  const auto directory = base::TemporaryDirectory::Create().value();
  const std::string path = directory->path() + "/f";
  EXPECT_EQ(HashContent(path), std::nullopt);
  std::string content(3 << 20, 'x');
  const auto hash = [&] {
    std::ofstream(path, std::ios::binary) << content;
    return HashContent(path);
  };
  const auto first = hash();
  EXPECT_TRUE(first);
  content.back() = 'y';
  EXPECT_NE(hash(), first);
  content.back() = 'x';
  EXPECT_EQ(hash(), first);
  content += '\0';
  EXPECT_NE(hash(), first);
}

}  // namespace
}  // namespace nereid::repository
