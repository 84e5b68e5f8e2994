// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tensor/bytes.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace nereid::tensor {
namespace {

TEST(DataTypeTest, NamesGoBothWays) {
  for (int i = 1; i <= 14; ++i) {
    const auto type = static_cast<DataType>(i);
    EXPECT_EQ(DataTypeFromName(DataTypeName(type)), type);
  }
  EXPECT_EQ(DataTypeFromName("fp32"), DataType::kInvalid);
  EXPECT_EQ(DataTypeFromName("<invalid>"), DataType::kInvalid);
  EXPECT_EQ(DataTypeName(static_cast<DataType>(99)), "<invalid>");
  EXPECT_EQ(DataTypeConfigName(DataType::kBytes), "TYPE_STRING");
  EXPECT_EQ(DataTypeByteSize(DataType::kBf16), 2u);
  EXPECT_EQ(DataTypeByteSize(DataType::kBytes), 0u);
}

TEST(ShapeTest, CountsWithoutOverflow) {
  EXPECT_EQ(ElementCount(Shape{2, 3, 4}), 24);
  EXPECT_EQ(ElementCount(Shape{}), 1);
  EXPECT_EQ(ElementCount(Shape{5, 0, 7}), 0);
  EXPECT_FALSE(ElementCount(Shape{2, -1}));
  EXPECT_FALSE(ElementCount(Shape{int64_t{1} << 62, 4}));
  EXPECT_FALSE(ElementCount(Shape{int64_t{1} << 62, int64_t{1} << 62, 0}));
  EXPECT_FALSE(ByteSize(DataType::kFp64, Shape{int64_t{1} << 61, 2}));
  EXPECT_EQ(ByteSize(DataType::kFp32, Shape{3, 5}), 60u);
  EXPECT_FALSE(ByteSize(DataType::kBytes, Shape{3}));
}

TEST(ShapeTest, ZerosOfEveryType) {
  EXPECT_EQ(ZeroByteSize(DataType::kFp32, Shape{3, 5}), 60u);
  EXPECT_EQ(ZeroByteSize(DataType::kBytes, Shape{3, 5}), 60u);
  EXPECT_EQ(ZeroByteSize(DataType::kBytes, Shape{0}), 0u);
  EXPECT_FALSE(ZeroByteSize(DataType::kBytes, Shape{-1}));
  EXPECT_FALSE(ZeroByteSize(DataType::kBytes, Shape{int64_t{1} << 61, 3}));
  EXPECT_FALSE(ZeroByteSize(DataType::kInvalid, Shape{1}));
  EXPECT_EQ(WithoutVariableDims(Shape{-1, 4, 0, -1}), (Shape{1, 4, 0, 1}));
}

TEST(ShapeTest, MatchesPatterns) {
  EXPECT_TRUE(ShapeMatches(Shape{-1, 4}, Shape{0, 4}));
  EXPECT_FALSE(ShapeMatches(Shape{-1, 4}, Shape{3, 5}));
  EXPECT_FALSE(ShapeMatches(Shape{-1, 4}, Shape{4}));
  EXPECT_FALSE(ShapeMatches(Shape{-1}, Shape{-1}));
  EXPECT_EQ(ShapeText(Shape{-1, 4}), "[-1,4]");
}

std::vector<std::string> Elements(const std::vector<std::string>& pieces, int64_t count,
                                  base::Status* status) {
  std::vector<ByteSpan> spans;
  for (const std::string& piece : pieces) spans.push_back({piece.data(), piece.size()});
  std::vector<std::string> elements;
  *status = ForEachBytesElement(spans, count, "input 'x'",
                                [&](std::string_view e) { elements.emplace_back(e); });
  return elements;
}

TEST(BytesTest, WalksElementsOverPieces) {
  std::string all;
  AppendBytesElement("hello", &all);
  AppendBytesElement("", &all);
  AppendBytesElement(std::string("\0z", 2), &all);
  // Every way of cutting the bytes in two must give the same elements.
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    base::Status status;
    const auto elements = Elements({all.substr(0, cut), "", all.substr(cut)}, 3, &status);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(elements, (std::vector<std::string>{"hello", "", std::string("\0z", 2)}));
  }
}

TEST(BytesTest, RefusesWhatDoesNotFit) {
  std::string all;
  AppendBytesElement("hello", &all);
  base::Status status;
  Elements({all}, 2, &status);
  EXPECT_EQ(status.message(), "expected 2 string elements for input 'x', got 1");
  Elements({all + all}, 1, &status);
  EXPECT_EQ(status.message(), "unexpected number of string elements 2 for input 'x', expecting 1");
  Elements({all.substr(0, 3)}, 1, &status);
  EXPECT_EQ(status.message(),
            "incomplete string length indicator for input 'x', expecting 4 bytes but only 3 bytes "
            "available.");
  Elements({all.substr(0, 6)}, 1, &status);
  EXPECT_EQ(status.message(),
            "incomplete string data for input 'x', expecting string of length 5 but only 2 bytes "
            "available");
  Elements({"\xff\xff\xff\xff"}, 1, &status);
  EXPECT_FALSE(status.ok());
  Elements({}, 0, &status);
  EXPECT_TRUE(status.ok());
}

}  // namespace
}  // namespace nereid::tensor
