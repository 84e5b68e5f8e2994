// SPDX-License-Identifier: Apache-2.0
#include "cache/digest.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace nereid::cache {
namespace {

TEST(DigestTest, IsSha256) {
  DigestWriter empty;
  EXPECT_EQ(ToHex(*empty.Finish()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  DigestWriter writer;
  writer.Raw("abc", 3);
  EXPECT_EQ(ToHex(*writer.Finish()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(DigestTest, FieldsAreHashedWithTheirLength) {
  DigestWriter fields;
  fields.Number(0x0102);
  fields.Text("abc");
  DigestWriter bytes;
  bytes.Raw(std::string("\x02\x01\0\0\0\0\0\0\x03\0\0\0\0\0\0\0abc", 19).data(), 19);
  EXPECT_EQ(fields.Finish(), bytes.Finish());
}

TEST(DigestTest, TheDivisionOfTheBytesDoesNotMatter) {
  std::mt19937 random(1);
  std::string bytes(5000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  DigestWriter whole;
  whole.Raw(bytes.data(), bytes.size());
  const auto expected = whole.Finish();
  for (const size_t step :
       {size_t{1}, size_t{7}, size_t{255}, size_t{256}, size_t{257}, size_t{4999}}) {
    DigestWriter parts;
    for (size_t at = 0; at < bytes.size(); at += step) {
      parts.Raw(bytes.data() + at, std::min(step, bytes.size() - at));
    }
    EXPECT_EQ(parts.Finish(), expected) << step;
  }
}

/// Lists of texts over a tiny alphabet: concatenated, nearly every two of them look alike.
TEST(DigestTest, DifferentListsOfTextsNeverAgree) {
  std::mt19937 random(2);
  std::set<std::vector<std::string>> lists;
  std::set<std::string> digests;
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::string> list(random() % 4);
    for (std::string& text : list) text.assign(random() % 4, "a\0"[random() % 2]);
    if (!lists.insert(list).second) continue;
    DigestWriter writer;
    writer.Number(list.size());
    for (const std::string& text : list) writer.Text(text);
    EXPECT_TRUE(digests.insert(ToHex(*writer.Finish())).second);
  }
  EXPECT_EQ(digests.size(), lists.size());
  EXPECT_GT(lists.size(), 100u);
}

}  // namespace
}  // namespace nereid::cache
