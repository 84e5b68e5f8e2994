// SPDX-License-Identifier: Apache-2.0
#include "request/normalize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "request/binding.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"
#include "tensor/bytes.h"

namespace nereid::request {
namespace {

using ::testing::HasSubstr;

constexpr const char* kBatching = R"(
  name: "m" max_batch_size: 8
  input { name: "A" data_type: TYPE_FP32 dims: [ 4 ] }
  output { name: "X" data_type: TYPE_FP32 dims: [ 4 ] }
  output { name: "Y" data_type: TYPE_FP32 dims: [ 4 ] })";

class NormalizeTest : public ::testing::Test {
 protected:
  void Use(const std::string& config) {
    request_ = std::make_unique<InferenceRequest>();
    request_->SetSink(std::make_shared<RecordingSink>());
    model_ = MakeModel(config);
  }
  Input* Add(const std::string& name, tensor::DataType type, tensor::Shape shape, size_t bytes) {
    Input* input = request_->AddInput(name, type, std::move(shape)).value();
    if (bytes > 0) input->Append(data_.data(), bytes);
    return input;
  }
  base::Status Normalize() {
    BindRequest(*request_, model_);
    base::Status status = request::Normalize(*request_);
    request_->response_factory()->Disarm();
    return status;
  }

  std::string data_ = std::string(4096, '\0');
  std::unique_ptr<InferenceRequest> request_;
  std::shared_ptr<const ModelIdentity> model_;
};

TEST_F(NormalizeTest, CompletesAGoodRequest) {
  Use(kBatching);
  Add("A", tensor::DataType::kFp32, {3, 4}, 48);
  ASSERT_TRUE(Normalize().ok());
  EXPECT_EQ(request_->batch_size, 3u);
  EXPECT_EQ(request_->requested_outputs, (std::vector<std::string>{"X", "Y"}));
  EXPECT_EQ(request_->inputs()[0].model_shape, (tensor::Shape{3, 4}));
}

TEST_F(NormalizeTest, SaysWhatIsWrong) {
  struct Case {
    std::string name;
    tensor::DataType type;
    tensor::Shape shape;
    size_t bytes;
    const char* message;
  };
  const Case cases[] = {
      {"Z", tensor::DataType::kFp32, {1, 4}, 16, "unexpected inference input 'Z' for model 'm'"},
      {"A",
       tensor::DataType::kInt32,
       {1, 4},
       16,
       "[request id: <id_unknown>] inference input 'A' data-type is 'INT32', but model 'm' expects "
       "'FP32'"},
      {"A",
       tensor::DataType::kFp32,
       {1, 5},
       20,
       "unexpected shape for input 'A' for model 'm'. Expected [-1,4], got [1,5]. NOTE: Setting a "
       "non-zero max_batch_size"},
      {"A",
       tensor::DataType::kFp32,
       {},
       16,
       "input 'A' has no shape but model requires batch dimension for 'm'"},
      {"A",
       tensor::DataType::kFp32,
       {9, 4},
       144,
       "inference request batch-size must be <= 8 for 'm'"},
      {"A",
       tensor::DataType::kFp32,
       {0, 4},
       0,
       "inference request batch-size must be >= 1 for 'm'"},
      {"A",
       tensor::DataType::kFp32,
       {1, -1},
       16,
       "All input dimensions should be specified for input 'A' for model 'm', got [1,-1]"},
      {"A",
       tensor::DataType::kFp32,
       {1, 4},
       15,
       "input byte size mismatch for input 'A' for model 'm'. Expected 16, got 15"},
      {"A",
       tensor::DataType::kFp32,
       {1, 4},
       0,
       "input byte size mismatch for input 'A' for model 'm'. Expected 16, got 0"},
  };
  for (const Case& c : cases) {
    Use(kBatching);
    Add(c.name, c.type, c.shape, c.bytes);
    const base::Status status = Normalize();
    EXPECT_EQ(status.code(), base::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(c.message));
  }
}

TEST_F(NormalizeTest, ALimitThatNobodyWroteIsExplained) {
  Use(kBatching);
  Add("A", tensor::DataType::kFp32, {9, 4}, 144);
  request_->id = "r";
  EXPECT_EQ(Normalize().message(),
            "[request id: r] inference request batch-size must be <= 8 for 'm'");
  auto chosen = std::make_shared<ModelIdentity>(*model_);
  chosen->backend_chose_batch_size = true;
  request_ = std::make_unique<InferenceRequest>();
  request_->SetSink(std::make_shared<RecordingSink>());
  request_->id = "r";
  model_ = chosen;
  Add("A", tensor::DataType::kFp32, {9, 4}, 144);
  EXPECT_EQ(
      Normalize().message(),
      "[request id: r] inference request batch-size must be <= 8 for 'm'; the model's backend "
      "chose this limit, because config.pbtxt sets none: set max_batch_size there");
}

TEST_F(NormalizeTest, NamesTheRequest) {
  Use(kBatching);
  request_->id = "r7";
  EXPECT_EQ(
      Normalize().message(),
      "[request id: r7] expected 1 inputs but got 0 inputs for model 'm'. Got input(s) [], but "
      "missing required input(s) ['A']. Please provide all required input(s).");
}

TEST_F(NormalizeTest, RefusesUnknownOutputs) {
  Use(kBatching);
  Add("A", tensor::DataType::kFp32, {1, 4}, 16);
  request_->requested_outputs = {"X", "W"};
  EXPECT_EQ(Normalize().message(), "unexpected inference output 'W' for model 'm'");
}

TEST_F(NormalizeTest, OptionalInputsMayBeMissing) {
  constexpr const char* kOptional = R"(
    name: "m"
    input { name: "A" data_type: TYPE_FP32 dims: [ 1 ] }
    input { name: "B" data_type: TYPE_FP32 dims: [ 1 ] optional: true })";
  Use(kOptional);
  Add("A", tensor::DataType::kFp32, {1}, 4);
  EXPECT_TRUE(Normalize().ok());
  Use(kOptional);
  Add("B", tensor::DataType::kFp32, {1}, 4);
  EXPECT_THAT(Normalize().message(),
              HasSubstr("expected number of inputs between 1 and 2 but got 1 inputs"));
}

TEST_F(NormalizeTest, BatchSizesMustAgree) {
  Use(R"(name: "m" max_batch_size: 4
         input { name: "A" data_type: TYPE_INT8 dims: [ 1 ] }
         input { name: "B" data_type: TYPE_INT8 dims: [ 1 ] })");
  Add("A", tensor::DataType::kInt8, {2, 1}, 2);
  Add("B", tensor::DataType::kInt8, {3, 1}, 3);
  EXPECT_THAT(Normalize().message(), HasSubstr("input 'B' batch size does not match"));
}

TEST_F(NormalizeTest, OfTwoWrongInputsTheLastOneIsReported) {
  Use(R"(name: "m" max_batch_size: 4
         input { name: "A" data_type: TYPE_INT8 dims: [ 1 ] }
         input { name: "B" data_type: TYPE_INT8 dims: [ 1 ] })");
  Add("B", tensor::DataType::kInt16, {1, 1}, 2);
  Add("A", tensor::DataType::kInt8, {1, 7}, 7);
  EXPECT_THAT(Normalize().message(), HasSubstr("unexpected shape for input 'A'"));
  Use(R"(name: "m" max_batch_size: 4
         input { name: "A" data_type: TYPE_INT8 dims: [ 1 ] }
         input { name: "B" data_type: TYPE_INT8 dims: [ 1 ] })");
  Add("Y", tensor::DataType::kInt8, {1, 1}, 1);
  Add("Z", tensor::DataType::kInt8, {1, 1}, 1);
  EXPECT_THAT(Normalize().message(), HasSubstr("unexpected inference input 'Z'"));
}

TEST_F(NormalizeTest, HugeShapesAreRefusedNotMultiplied) {
  Use(R"(name: "m" input { name: "A" data_type: TYPE_FP32 dims: [ -1, -1 ] }
         input { name: "S" data_type: TYPE_STRING dims: [ -1, -1 ] optional: true })");
  Add("A", tensor::DataType::kFp32, {int64_t{1} << 62, 4}, 16);
  EXPECT_THAT(Normalize().message(), HasSubstr("more bytes than a tensor can have"));
  request_->inputs().Clear();
  request_->requested_outputs.clear();
  Add("A", tensor::DataType::kFp32, {1, 1}, 4);
  Add("S", tensor::DataType::kBytes, {int64_t{1} << 62, 4}, 16);
  EXPECT_THAT(Normalize().message(), HasSubstr("more elements than a tensor can have"));
}

TEST_F(NormalizeTest, ReshapesCarryVariableSizes) {
  Use(R"(name: "m" max_batch_size: 4
         input { name: "A" data_type: TYPE_INT8 dims: [ 2, 4, -1, 6 ]
                 reshape { shape: [ 8, -1, 1, 6 ] } }
         input { name: "B" data_type: TYPE_INT8 dims: [ 1 ] reshape { } })");
  Add("A", tensor::DataType::kInt8, {2, 2, 4, 5, 6}, 480);
  Add("B", tensor::DataType::kInt8, {2, 1}, 2);
  ASSERT_TRUE(Normalize().ok());
  EXPECT_EQ(request_->inputs()[0].model_shape, (tensor::Shape{2, 8, 5, 1, 6}));
  EXPECT_EQ(request_->inputs()[1].model_shape, (tensor::Shape{2}));
}

TEST_F(NormalizeTest, RawRequestsTakeTheirShapeFromTheModel) {
  Use(R"(name: "m" max_batch_size: 4 input { name: "A" data_type: TYPE_FP32 dims: [ 2, -1 ] })");
  request_->AddRawInput("raw").value()->Append(data_.data(), 24);
  ASSERT_TRUE(Normalize().ok());
  EXPECT_EQ(request_->inputs()[0].name, "A");
  EXPECT_EQ(request_->inputs()[0].shape, (tensor::Shape{1, 2, 3}));
  EXPECT_EQ(request_->batch_size, 1u);
}

TEST_F(NormalizeTest, RawBytesAreOneElement) {
  Use(R"(name: "m" input { name: "S" data_type: TYPE_STRING dims: [ 1 ] })");
  request_->AddRawInput("raw").value()->Append("hello", 5);
  ASSERT_TRUE(Normalize().ok());
  std::vector<tensor::ByteSpan> pieces;
  for (const InputPiece& piece : request_->inputs()[0].pieces) {
    pieces.push_back({piece.data, piece.size});
  }
  std::string element;
  ASSERT_TRUE(
      tensor::ForEachBytesElement(pieces, 1, "S", [&](std::string_view e) { element = e; }).ok());
  EXPECT_EQ(element, "hello");
}

TEST_F(NormalizeTest, RawRequestsNeedADeducibleInput) {
  Use(R"(name: "m" input { name: "A" data_type: TYPE_FP32 dims: [ -1, -1 ] })");
  request_->AddRawInput("raw").value()->Append(data_.data(), 24);
  EXPECT_THAT(Normalize().message(), HasSubstr("more than one variable-sized dimension"));
  Use(R"(name: "m" input { name: "A" data_type: TYPE_FP32 dims: [ 1 ] }
         input { name: "B" data_type: TYPE_FP32 dims: [ 1 ] })");
  request_->AddRawInput("raw").value()->Append(data_.data(), 4);
  EXPECT_THAT(Normalize().message(),
              HasSubstr("Raw request must only have 1 input (found 1) to be deduced but got 2"));
  Use(R"(name: "m" input { name: "A" data_type: TYPE_STRING dims: [ 2 ] })");
  request_->AddRawInput("raw").value()->Append(data_.data(), 4);
  EXPECT_THAT(Normalize().message(), HasSubstr("the model must have input shape [1]"));
}

}  // namespace
}  // namespace nereid::request
