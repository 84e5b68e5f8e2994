// SPDX-License-Identifier: Apache-2.0
#include "rollout/output_comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace nereid::rollout {
namespace {

using tensor::DataType;

template <typename T>
AnswerTensor Tensor(DataType type, const std::vector<T>& values, std::string name = "OUT") {
  auto bytes = std::make_shared<std::string>(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes->data(), values.data(), bytes->size());
  return {std::move(name), type, {static_cast<int64_t>(values.size())}, *bytes, bytes};
}

Answer With(std::vector<AnswerTensor> outputs) { return {{}, std::move(outputs)}; }

TEST(FirstDifference, EqualAnswers) {
  const Answer a =
      With({Tensor<float>(DataType::kFp32, {1, 2}), Tensor<int32_t>(DataType::kInt32, {3}, "N")});
  const Answer b =
      With({Tensor<int32_t>(DataType::kInt32, {3}, "N"), Tensor<float>(DataType::kFp32, {1, 2})});
  EXPECT_EQ(FirstDifference(a, b, {}), std::nullopt);
}

TEST(FirstDifference, NamesTheElementAndBothValues) {
  const Answer a = With({Tensor<float>(DataType::kFp32, {1, 2, 3})});
  const Answer b = With({Tensor<float>(DataType::kFp32, {1, 2.5, 4})});
  EXPECT_EQ(FirstDifference(a, b, {}), "output 'OUT', element 1: 2.5 instead of 2");
  EXPECT_EQ(FirstDifference(a, b, {{DataType::kFp32, {0.5, 0}}}),
            "output 'OUT', element 2: 4 instead of 3");
  EXPECT_EQ(FirstDifference(a, b, {{DataType::kFp32, {0, 0.4}}}), std::nullopt);
}

TEST(FirstDifference, NumbersThatAreNone) {
  const double nan = std::nan(""), inf = INFINITY;
  const Tolerances any = {{DataType::kFp64, {1e300, 0}}};
  const auto differ = [&](double a, double b) {
    return FirstDifference(With({Tensor<double>(DataType::kFp64, {a})}),
                           With({Tensor<double>(DataType::kFp64, {b})}), any)
        .has_value();
  };
  EXPECT_FALSE(differ(nan, -nan));
  EXPECT_FALSE(differ(inf, inf));
  EXPECT_TRUE(differ(inf, -inf));
  EXPECT_TRUE(differ(nan, 0));
  EXPECT_TRUE(differ(0, inf));
  EXPECT_FALSE(differ(0, 1e299));
}

TEST(FirstDifference, HalvesAreNumbers) {
  // 1.0 and the next number; 0.5 and -0.5; the least subnormal and 0.
  const auto difference = [](DataType type, uint16_t a, uint16_t b, double absolute) {
    return FirstDifference(With({Tensor<uint16_t>(type, {a})}), With({Tensor<uint16_t>(type, {b})}),
                           {{type, {absolute, 0}}});
  };
  EXPECT_EQ(difference(DataType::kFp16, 0x3c00, 0x3c01, 0.001), std::nullopt);
  EXPECT_EQ(difference(DataType::kFp16, 0x3800, 0xb800, 0.9),
            "output 'OUT', element 0: -0.5 instead of 0.5");
  EXPECT_EQ(difference(DataType::kFp16, 0x0001, 0x0000, 6e-8), std::nullopt);
  EXPECT_NE(difference(DataType::kFp16, 0x7c00, 0x3c00, 1e9), std::nullopt);
  EXPECT_EQ(difference(DataType::kBf16, 0x3f80, 0x3f81, 0.01), std::nullopt);
  EXPECT_EQ(difference(DataType::kBf16, 0x3f80, 0x4000, 0.5),
            "output 'OUT', element 0: 2 instead of 1");
}

TEST(FirstDifference, IntegersAreExactWithoutATolerance) {
  const int64_t big = std::numeric_limits<int64_t>::max();
  const Answer a = With({Tensor<int64_t>(DataType::kInt64, {big})});
  const Answer b = With({Tensor<int64_t>(DataType::kInt64, {big - 1})});
  EXPECT_NE(FirstDifference(a, b, {}), std::nullopt);
  EXPECT_EQ(FirstDifference(a, b, {{DataType::kInt64, {1, 0}}}), std::nullopt);
}

TEST(FirstDifference, FormsAndNames) {
  const Answer a = With({Tensor<float>(DataType::kFp32, {1, 2})});
  EXPECT_EQ(FirstDifference(a, With({Tensor<float>(DataType::kFp32, {1})}), {}),
            "output 'OUT' is FP32 [1] instead of FP32 [2]");
  EXPECT_EQ(FirstDifference(a, With({Tensor<int32_t>(DataType::kInt32, {1, 2})}), {}),
            "output 'OUT' is INT32 [2] instead of FP32 [2]");
  EXPECT_EQ(FirstDifference(a, With({}), {}), "output 'OUT' is missing");
  EXPECT_EQ(FirstDifference(With({}), a, {}), "1 outputs instead of 0");
  Answer failed;
  failed.error = base::Status::Internal("no");
  EXPECT_EQ(FirstDifference(a, failed, {}), "error: no");
}

// A backend may give fewer bytes than the shape needs; nothing is read beyond them.
TEST(FirstDifference, BytesThatDoNotFitTheShape) {
  AnswerTensor a = Tensor<float>(DataType::kFp32, {1, 2});
  AnswerTensor b = Tensor<float>(DataType::kFp32, {1, 3});
  a.bytes = a.bytes.substr(0, 6);
  b.bytes = b.bytes.substr(0, 6);
  EXPECT_EQ(FirstDifference(With({a}), With({b}), {{DataType::kFp32, {0, 0}}}), std::nullopt);
  b.bytes = b.bytes.substr(0, 5);
  EXPECT_EQ(FirstDifference(With({a}), With({b}), {}), "output 'OUT' has 5 bytes instead of 6");
  AnswerTensor text = {"T", DataType::kBytes, {1}, "ab", nullptr};
  AnswerTensor other = {"T", DataType::kBytes, {1}, "ac", nullptr};
  EXPECT_EQ(FirstDifference(With({text}), With({other}), {}), "output 'T' differs at byte 1");
}

}  // namespace
}  // namespace nereid::rollout
