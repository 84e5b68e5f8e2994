// SPDX-License-Identifier: Apache-2.0
// Whole numbers divided by what a client sends: the processor traps, and the process must live.
#include <limits>

#include "onnxruntime/onnx_fixture.h"

namespace nereid::onnxruntime {
namespace {

template <typename T>
struct Named;
template <>
struct Named<int8_t> {
  static constexpr const char* kName = "int8";
  static constexpr TRITONSERVER_DataType kType = TRITONSERVER_TYPE_INT8;
};
template <>
struct Named<int32_t> {
  static constexpr const char* kName = "int32";
  static constexpr TRITONSERVER_DataType kType = TRITONSERVER_TYPE_INT32;
};
template <>
struct Named<int64_t> {
  static constexpr const char* kName = "int64";
  static constexpr TRITONSERVER_DataType kType = TRITONSERVER_TYPE_INT64;
};

template <typename T>
class DivisionTest : public OnnxTest {
 protected:
  static constexpr T kSmallest = std::numeric_limits<T>::min();

  void Divide(const std::string& op, const std::vector<T>& x, const std::vector<T>& by) {
    ASSERT_EQ(LoadComplete(op + "_" + Named<T>::kName), "");
    const std::vector<int64_t> shape = {1, static_cast<int64_t>(x.size())};
    request_.AddInput<T>("x", Named<T>::kType, shape, x);
    request_.AddInput<T>("by", Named<T>::kType, shape, by);
    request_.outputs = {"y"};
    ASSERT_EQ(server_.Execute({&request_}), "");
  }
  std::vector<T> Values() { return request_.Answer().outputs.at("y").template As<T>(); }

  TRITONBACKEND_Request request_;
};

using Types = ::testing::Types<int8_t, int32_t, int64_t>;
TYPED_TEST_SUITE(DivisionTest, Types);

TYPED_TEST(DivisionTest, TheSmallestNumberByMinusOne) {
  using T = TypeParam;
  this->Divide("div", {this->kSmallest, 7, -7}, {-1, -1, 2});
  EXPECT_EQ(this->Values(), (std::vector<T>{this->kSmallest, -7, -3}));
}

TYPED_TEST(DivisionTest, TheRestOfTheSmallestNumberByMinusOne) {
  using T = TypeParam;
  this->Divide("mod", {this->kSmallest, 7, -7}, {-1, -1, 2});
  EXPECT_EQ(this->Values(), (std::vector<T>{0, 0, 1}));
}

TYPED_TEST(DivisionTest, ByZeroIsAnErrorOfTheRequest) {
  this->Divide("div", {1, 7}, {0, 1});
  EXPECT_NE(this->request_.Answer().message.find("zero"), std::string::npos);
}

TYPED_TEST(DivisionTest, TheRestByZeroIsAnErrorOfTheRequest) {
  this->Divide("mod", {1, 7}, {0, 1});
  EXPECT_NE(this->request_.Answer().message.find("zero"), std::string::npos);
}

}  // namespace
}  // namespace nereid::onnxruntime
