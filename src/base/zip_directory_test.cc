// SPDX-License-Identifier: Apache-2.0
#include "base/zip_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::base {
namespace {

using testing::HasSubstr;

std::string Little(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value & 0xff);
  return text;
}

/// Returns the local header, with an extra field of four bytes that the directory lacks.
std::string Local(const std::string& name, const std::string& content) {
  return "PK\x03\x04" + Little(0, 14) + Little(content.size(), 4) + Little(content.size(), 4) +
         Little(name.size(), 2) + Little(4, 2) + name + "abcd" + content;
}

std::string Entry(const std::string& name, uint64_t size, uint64_t offset,
                  const std::string& extra = "") {
  return "PK\x01\x02" + Little(0, 6) + Little(8, 2) + Little(0, 8) + Little(size, 4) +
         Little(size, 4) + Little(name.size(), 2) + Little(extra.size(), 2) + Little(0, 2) +
         Little(0, 8) + Little(offset, 4) + name + extra;
}

std::string End(uint64_t size, uint64_t offset) {
  return "PK\x05\x06" + Little(0, 8) + Little(size, 4) + Little(offset, 4) + Little(0, 2);
}

Result<std::vector<ZipEntry>> Read(const std::string& bytes) {
  return ReadZipDirectory(StringSource(bytes), 1 << 20);
}

TEST(ZipDirectoryTest, ListsTheEntries) {
  const std::string content = Local("a/b", "hello") + Local("c", "");
  const std::string list = Entry("a/b", 5, 0) + Entry("c", 0, Local("a/b", "hello").size());
  const std::string bytes = content + list + End(list.size(), content.size());
  const auto entries = Read(bytes);
  ASSERT_TRUE(entries.ok()) << entries.status().message();
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0].name, "a/b");
  EXPECT_EQ((*entries)[0].method, 8);
  EXPECT_EQ((*entries)[0].size, 5u);
  const auto offset = ZipDataOffset(StringSource(bytes), (*entries)[0]);
  ASSERT_TRUE(offset.ok());
  EXPECT_EQ(bytes.substr(*offset, 5), "hello");
  EXPECT_FALSE(ZipDataOffset(StringSource(bytes), {"x", 0, 0, 0, 3}).ok());
  EXPECT_THAT(ReadZipDirectory(StringSource(bytes), 10).status().message(),
              HasSubstr("list of records"));
}

TEST(ZipDirectoryTest, LargeNumbersAreInAnExtraField) {
  const uint64_t size = uint64_t{5} << 32;
  const std::string extra =
      Little(1, 2) + Little(24, 2) + Little(size, 8) + Little(7, 8) + Little(9, 8);
  const std::string list = Entry("big", UINT32_MAX, UINT32_MAX, extra);
  const auto entries = Read(list + End(list.size(), 0));
  ASSERT_TRUE(entries.ok()) << entries.status().message();
  EXPECT_EQ((*entries)[0].size, size);
  EXPECT_EQ((*entries)[0].packed_size, 7u);
  EXPECT_EQ((*entries)[0].offset, 9u);
}

TEST(ZipDirectoryTest, RefusesWhatIsNoZipFile) {
  EXPECT_THAT(Read("").status().message(), HasSubstr("no ZIP archive"));
  EXPECT_THAT(Read(std::string(100, 'x')).status().message(), HasSubstr("no ZIP archive"));
  EXPECT_THAT(Read(End(0, 0)).status().message(), HasSubstr("list of records"));
  EXPECT_THAT(Read(End(UINT32_MAX, UINT32_MAX)).status().message(), HasSubstr("list of records"));
  const std::string list = Entry("name", 1, 0);
  for (size_t size = 0; size < list.size(); ++size) {
    EXPECT_FALSE(Read(list.substr(0, size) + End(size, 0)).ok()) << size;
  }
}

}  // namespace
}  // namespace nereid::base
