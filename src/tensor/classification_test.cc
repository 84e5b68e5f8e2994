// SPDX-License-Identifier: Apache-2.0
#include "tensor/classification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tensor/bytes.h"

namespace nereid::tensor {
namespace {

using ::testing::ElementsAre;
using Texts = std::vector<std::string>;

const Texts kLabels = {"cat", "dog", "", "four: legs"};

template <typename T>
base::Result<Classes> ClassifyValues(DataType type, const Shape& shape,
                                     const std::vector<T>& values, uint64_t count,
                                     bool batched = false, const Texts& labels = {}) {
  const auto* const data = reinterpret_cast<const char*>(values.data());
  return Classify(type, shape, {data, values.size() * sizeof(T)}, batched, count, labels);
}

Texts Elements(const Classes& classes) {
  Texts elements;
  const ByteSpan span{classes.bytes.data(), classes.bytes.size()};
  const base::Status status =
      ForEachBytesElement({&span, 1}, *ElementCount(classes.shape), "classes",
                          [&](std::string_view element) { elements.emplace_back(element); });
  EXPECT_TRUE(status.ok()) << status.message();
  return elements;
}

template <typename T>
Texts Top(DataType type, const std::vector<T>& values, uint64_t count = 100) {
  const auto classes =
      ClassifyValues<T>(type, {static_cast<int64_t>(values.size())}, values, count);
  if (!classes.ok()) return {classes.status().message()};
  return Elements(*classes);
}

TEST(ClassifyTest, LabelsWhatHasOne) {
  const auto classes =
      ClassifyValues<float>(DataType::kFp32, {5}, {1, 2, 3, 4, 5}, 9, false, kLabels);
  ASSERT_TRUE(classes.ok());
  EXPECT_EQ(classes->shape, Shape{5});
  EXPECT_THAT(Elements(*classes), ElementsAre("5.000000:4", "4.000000:3:four: legs", "3.000000:2",
                                              "2.000000:1:dog", "1.000000:0:cat"));
}

TEST(ClassifyTest, EveryBatchItemForItself) {
  const auto classes =
      ClassifyValues<int32_t>(DataType::kInt32, {2, 3, 1}, {1, 2, 3, 6, 5, 4}, 2, true, kLabels);
  ASSERT_TRUE(classes.ok());
  EXPECT_EQ(classes->shape, (Shape{2, 2}));
  EXPECT_THAT(Elements(*classes), ElementsAre("3:2", "2:1:dog", "6:0:cat", "5:1:dog"));
  const auto whole = ClassifyValues<int32_t>(DataType::kInt32, {2, 3}, {1, 2, 3, 6, 5, 4}, 1);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->shape, Shape{1});
  EXPECT_THAT(Elements(*whole), ElementsAre("6:3"));
}

TEST(ClassifyTest, NumbersOfEveryType) {
  EXPECT_THAT(Top<uint8_t>(DataType::kUint8, {0, 255}), ElementsAre("255:1", "0:0"));
  EXPECT_THAT(Top<uint16_t>(DataType::kUint16, {65535, 1}), ElementsAre("65535:0", "1:1"));
  EXPECT_THAT(Top<uint32_t>(DataType::kUint32, {1, UINT32_MAX}),
              ElementsAre("4294967295:1", "1:0"));
  EXPECT_THAT(Top<uint64_t>(DataType::kUint64, {UINT64_MAX, uint64_t{1} << 63}),
              ElementsAre("18446744073709551615:0", "9223372036854775808:1"));
  EXPECT_THAT(Top<int8_t>(DataType::kInt8, {-128, 127, -1}),
              ElementsAre("127:1", "-1:2", "-128:0"));
  EXPECT_THAT(Top<int16_t>(DataType::kInt16, {-2, -1}), ElementsAre("-1:1", "-2:0"));
  EXPECT_THAT(Top<int64_t>(DataType::kInt64, {INT64_MIN, INT64_MAX}),
              ElementsAre("9223372036854775807:1", "-9223372036854775808:0"));
  EXPECT_THAT(Top<float>(DataType::kFp32, {0.1F, 3.4e38F, -1.5F, 1e-10F}),
              ElementsAre("339999995214436424907732413799364296704.000000:1", "0.100000:0",
                          "0.000000:3", "-1.500000:2"));
  EXPECT_THAT(Top<double>(DataType::kFp64, {0.1, 123456789.123456789, -0.0}),
              ElementsAre("123456789.123457:1", "0.100000:0", "-0.000000:2"));
  EXPECT_EQ(Top<double>(DataType::kFp64, {-std::numeric_limits<double>::max()}).at(0).size(),
            1 + 309 + 7 + 2u);
}

TEST(ClassifyTest, EqualValuesStayInOrder) {
  const Texts all = Top(DataType::kFp32, std::vector<float>(40, 1.0F));
  ASSERT_EQ(all.size(), 40u);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], "1.000000:" + std::to_string(i));
  EXPECT_THAT(Top<int32_t>(DataType::kInt32, {1, 7, 7, 3, 7}, 3), ElementsAre("7:1", "7:2", "7:4"));
}

TEST(ClassifyTest, NotANumberComesLast) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_THAT(Top<float>(DataType::kFp32, {nan, 1, -inf, inf, -nan, 2}),
              ElementsAre("inf:3", "2.000000:5", "1.000000:1", "-inf:2", "nan:0", "-nan:4"));
  std::vector<float> many(1000, nan);
  many[500] = 3;
  EXPECT_THAT(Top(DataType::kFp32, many, 2), ElementsAre("3.000000:500", "nan:0"));
}

TEST(ClassifyTest, Nothing) {
  const auto none = ClassifyValues<float>(DataType::kFp32, {0}, {}, 2);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->shape, Shape{0});
  EXPECT_EQ(none->bytes, "");
  const auto items = ClassifyValues<float>(DataType::kFp32, {2, 0}, {}, 2, true);
  ASSERT_TRUE(items.ok());
  EXPECT_EQ(items->shape, (Shape{2, 0}));
  const auto scalar = ClassifyValues<float>(DataType::kFp32, {}, {4}, 2);
  ASSERT_TRUE(scalar.ok());
  EXPECT_THAT(Elements(*scalar), ElementsAre("4.000000:0"));
}

TEST(ClassifyTest, Refuses) {
  for (const DataType type :
       {DataType::kBool, DataType::kFp16, DataType::kBf16, DataType::kBytes, DataType::kInvalid}) {
    const auto classes =
        Classify(type, Shape{2}, std::vector<char>(type == DataType::kBool ? 2 : 4), false, 1, {});
    EXPECT_EQ(classes.status().code(), base::StatusCode::kInvalidArgument);
    EXPECT_EQ(classes.status().message(),
              "class result not available for output due to unsupported type '" +
                  std::string(DataTypeName(type)) + "'");
  }
  EXPECT_EQ(ClassifyValues<float>(DataType::kFp32, {3}, {1, 2}, 1).status().message(),
            "the tensor to classify has 8 bytes, which does not fit its shape [3]");
  const std::vector<uint8_t> large(1'000'001);
  const auto refused = ClassifyValues<uint8_t>(DataType::kUint8, {1'000'001}, large, UINT64_MAX);
  EXPECT_EQ(refused.status().message(),
            "classification output tensor too large: 1000001 classes for each of 1 batch items "
            "exceed 1000000 elements");
  EXPECT_TRUE(ClassifyValues<uint8_t>(DataType::kUint8, {1'000'001}, large, 5).ok());
}

}  // namespace
}  // namespace nereid::tensor
