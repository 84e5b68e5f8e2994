// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/wire.h"

#include <gtest/gtest.h>

namespace nereid::tensorflow {
namespace {

TEST(WireReaderTest, EveryWireType) {
  const std::string bytes(
      "\x08\x96\x01"  // 1: 150
      "\x12\x03"
      "abc"                                   // 2: "abc"
      "\x19\x01\x02\x03\x04\x05\x06\x07\x08"  // 3: eight bytes
      "\x25\x01\x02\x03\x04"                  // 4: four bytes
      "\xa0\x06\x01",                         // 100: 1
      3 + 5 + 9 + 5 + 3);
  WireReader reader(bytes);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 1u);
  EXPECT_EQ(reader.number(), 150u);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.text(), "abc");
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 3u);
  EXPECT_EQ(reader.text(), "");
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 4u);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 100u);
  EXPECT_FALSE(reader.Next());
}

TEST(WireReaderTest, NegativeNumbers) {
  std::string bytes;
  AppendNumber(3, -1, &bytes);
  EXPECT_EQ(bytes.size(), 11u);
  WireReader reader(bytes);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.signed_number(), -1);
}

TEST(WireReaderTest, WhatIsBrokenEndsTheReading) {
  for (const std::string& bytes : {
           std::string("\x08"),                                          // no number
           std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),  // a number without end
           std::string("\x12\x05"
                       "abcd"),                                      // a text that is cut
           std::string("\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),  // a text of 2^63 bytes
           std::string("\x19"
                       "1234567"),  // seven of eight bytes
           std::string("\x0b"),     // a group
           std::string("\x0f"),     // no wire type
       }) {
    WireReader reader(bytes);
    EXPECT_FALSE(reader.Next());
    EXPECT_FALSE(reader.Next());
  }
}

TEST(WireTest, Messages) {
  std::string inner;
  AppendNumber(5, 300, &inner);
  std::string outer;
  AppendMessage(10, inner, &outer);
  WireReader reader(outer);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 10u);
  EXPECT_EQ(reader.text(), inner);
}

}  // namespace
}  // namespace nereid::tensorflow
