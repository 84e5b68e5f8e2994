// SPDX-License-Identifier: Apache-2.0
#include "tracing/tensor_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "tracing/quoted_text.h"

namespace nereid::tracing {
namespace {

using request::TracedTensor;
using tensor::DataType;

template <typename Value>
std::string Text(DataType type, const std::vector<Value>& values) {
  const tensor::Shape shape = {static_cast<int64_t>(values.size())};
  return TensorText(TracedTensor{"t", type, reinterpret_cast<const char*>(values.data()),
                                 values.size() * sizeof(Value), shape, memory::MemoryType::kCpu,
                                 0});
}

TEST(TensorText, ShowsEveryType) {
  EXPECT_EQ(Text<uint8_t>(DataType::kBool, {1, 0, 7}), "1,0,1");
  EXPECT_EQ(Text<uint8_t>(DataType::kUint8, {65, 255}), "65,255");
  EXPECT_EQ(Text<int8_t>(DataType::kInt8, {65, -1}), "65,-1");
  EXPECT_EQ(Text<int16_t>(DataType::kInt16, {-300}), "-300");
  EXPECT_EQ(Text<uint16_t>(DataType::kUint16, {65535}), "65535");
  EXPECT_EQ(Text<uint64_t>(DataType::kUint64, {uint64_t{1} << 63}), "9223372036854775808");
  EXPECT_EQ(Text<int64_t>(DataType::kInt64, {-5}), "-5");
  EXPECT_EQ(Text<float>(DataType::kFp32, {1.5F, 1e20F, -3}), "1.5,1e+20,-3");
  EXPECT_EQ(Text<double>(DataType::kFp64, {0.1, 1e300}), "0.1,1e+300");
  EXPECT_EQ(Text<uint16_t>(DataType::kFp16, {0x3C00, 0xC100, 0x0001, 0x8000, 0x7C00}),
            "1,-2.5,5.9604645e-08,-0,inf");
  EXPECT_EQ(Text<uint16_t>(DataType::kBf16, {0x3FC0, 0xC000}), "1.5,-2");
  EXPECT_EQ(Text<float>(DataType::kFp32, {}), "");
}

TEST(TensorText, StopsAtTheEndOrAtTheLimit) {
  const std::string bytes("\x02\0\0\0x\"\x01\0\0\0y\xFF\xFF\xFF\xFFz", 16);
  EXPECT_EQ(Text<char>(DataType::kBytes, std::vector<char>(bytes.begin(), bytes.end())),
            R"("x\"","y")");
  EXPECT_EQ(Text<char>(DataType::kBytes, {1, 0}), "");
  const std::string many = Text<uint8_t>(DataType::kUint8, std::vector<uint8_t>(100'000, 1));
  EXPECT_EQ(many.size(), 2 * kMaxElementsShown + 3);
  EXPECT_TRUE(many.ends_with(",1,..."));
}

TEST(QuotedText, IsUtf8ForAnyBytes) {
  EXPECT_EQ(QuotedText("a\"é"), "\"a\\\"é\"");
  EXPECT_EQ(QuotedText("\xFF"), "\"ÿ\"");
  EXPECT_EQ(QuotedText("\xC3"), "\"Ã\"");
  EXPECT_EQ(QuotedText("\xC0\x80"), "\"À\xC2\x80\"");
  EXPECT_EQ(QuotedText("\xED\xA0\x80"), "\"í\xC2\xA0\xC2\x80\"");
  EXPECT_EQ(QuotedText("\xF0\x9F\x98\x80"), "\"\xF0\x9F\x98\x80\"");
}

}  // namespace
}  // namespace nereid::tracing
