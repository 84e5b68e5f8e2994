// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/wire_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "codec/proto/wire_writer.h"

namespace nereid::codec::proto {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

TEST(WireReader, ReadsVarintsOfEverySize) {
  for (int bits = 0; bits <= 64; ++bits) {
    const uint64_t value = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    char bytes[10];
    WireWriter writer(bytes);
    writer.Varint(value);
    const size_t size = writer.position() - bytes;
    EXPECT_EQ(size, VarintSize(value));
    WireReader reader({bytes, size});
    uint64_t found = 1;
    ASSERT_TRUE(reader.ReadVarint(&found));
    EXPECT_EQ(found, value);
    EXPECT_TRUE(reader.done());
    WireReader cut({bytes, size - 1});
    EXPECT_FALSE(cut.ReadVarint(&found));
  }
}

TEST(WireReader, RefusesOverlongVarintsAndTags) {
  const std::string eleven(11, '\x80');
  uint64_t value;
  WireReader varint(eleven);
  EXPECT_FALSE(varint.ReadVarint(&value));
  uint32_t tag;
  const std::string six = "\x88\x80\x80\x80\x80\x00"s;
  WireReader overlong(six);
  EXPECT_FALSE(overlong.ReadTag(&tag));
}

TEST(WireReader, RefusesFieldZeroAndStrayGroupEnds) {
  uint32_t tag;
  WireReader zero("\x02"sv);
  EXPECT_FALSE(zero.ReadTag(&tag));
  WireReader group_end("\x0c"sv);
  EXPECT_FALSE(group_end.ReadTag(&tag));
}

TEST(WireReader, RefusesBytesThatReachPastTheEnd) {
  std::string_view bytes;
  WireReader cut(
      "\x05"
      "abcd"sv);
  EXPECT_FALSE(cut.ReadBytes(&bytes));
  WireReader huge("\xff\xff\xff\xff\x0f"sv);
  EXPECT_FALSE(huge.ReadBytes(&bytes));
  WireReader whole(
      "\x04"
      "abcd"sv);
  ASSERT_TRUE(whole.ReadBytes(&bytes));
  EXPECT_EQ(bytes, "abcd");
}

TEST(WireReader, SkipsGroupsDownToTheDepthLimit) {
  for (const int depth : {1, kMaxWireDepth, kMaxWireDepth + 1}) {
    const std::string group = std::string(depth, '\x7b') + std::string(depth, '\x7c');
    WireReader reader(group);
    uint32_t tag = 0;
    ASSERT_TRUE(reader.ReadTag(&tag));
    EXPECT_EQ(reader.SkipValue(tag, kMaxWireDepth), depth <= kMaxWireDepth) << depth;
  }
}

}  // namespace
}  // namespace nereid::codec::proto
