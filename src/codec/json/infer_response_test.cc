// SPDX-License-Identifier: Apache-2.0
#include "codec/json/infer_response.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "request/discarding_sink.h"
#include "request/response_factory.h"

namespace nereid::codec::json {
namespace {

class EncodeInferResponseTest : public ::testing::Test {
 protected:
  void Make(const std::string& id) {
    auto model = std::make_shared<request::ModelIdentity>();
    model->name = "mymodel";
    model->version = 1;
    model->version_text = "1";
    factory_ = std::make_shared<request::ResponseFactory>(
        std::make_shared<request::DiscardingSink>(), model, id,
        std::make_shared<request::Cancellation>());
    factory_->Disarm();
    response_ = std::move(*factory_->NewResponse());
  }

  void Add(const std::string& name, tensor::DataType type, tensor::Shape shape,
           const std::string& bytes) {
    request::Output* output = *response_->AddOutput(name, type, std::move(shape));
    memory::MemoryType memory_type = memory::MemoryType::kCpu;
    int64_t id = 0;
    ASSERT_TRUE(response_->AllocateOutput(output, bytes.size(), &memory_type, &id).ok());
    if (!bytes.empty()) std::memcpy(output->data, bytes.data(), bytes.size());
  }

  template <typename T>
  static std::string Bytes(std::initializer_list<T> values) {
    return std::string(reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T));
  }

  std::string Encode(const OutputOptions& options = {}) {
    json_.Clear();
    binary_.clear();
    status_ = EncodeInferResponse(*response_, options, &json_, &binary_);
    return std::string(json_.view());
  }

  std::shared_ptr<request::ResponseFactory> factory_;
  std::unique_ptr<request::InferenceResponse> response_;
  TextBuffer json_;
  std::vector<tensor::ByteSpan> binary_;
  base::Status status_;
};

TEST_F(EncodeInferResponseTest, OutputsInSharedMemoryHaveNeitherDataNorParameters) {
  Make("");
  Add("shared", tensor::DataType::kUint8, {2}, "ab");
  Add("other", tensor::DataType::kUint8, {1}, "c");
  response_->outputs()[0]->in_shared_memory = true;
  OutputOptions options;
  options.set_all_binary(true);
  EXPECT_EQ(Encode(options), R"({"model_name":"mymodel","model_version":"1","outputs":[)"
                             R"({"name":"shared","datatype":"UINT8","shape":[2]},)"
                             R"({"name":"other","datatype":"UINT8","shape":[1],)"
                             R"("parameters":{"binary_data_size":1}}]})");
  ASSERT_EQ(binary_.size(), 1u);
  EXPECT_EQ(std::string(binary_[0].data, binary_[0].size), "c");
}

TEST_F(EncodeInferResponseTest, JsonOfEveryType) {
  Make("42");
  using tensor::DataType;
  Add("f", DataType::kFp32, {2, 2}, Bytes<float>({1.0f, 1.1f, NAN, -INFINITY}));
  Add("d", DataType::kFp64, {1}, Bytes<double>({0.1}));
  Add("b", DataType::kBool, {2}, std::string("\1\0", 2));
  Add("i8", DataType::kInt8, {2}, Bytes<int8_t>({-128, 127}));
  Add("u8", DataType::kUint8, {1}, Bytes<uint8_t>({255}));
  Add("i64", DataType::kInt64, {1}, Bytes<int64_t>({INT64_MIN}));
  Add("u64", DataType::kUint64, {1}, Bytes<uint64_t>({UINT64_MAX}));
  Add("s", DataType::kBytes, {2}, std::string("\2\0\0\0a\"\3\0\0\0\0\xff\n", 13));
  Add("e", DataType::kInt32, {0}, "");
  EXPECT_EQ(
      Encode(),
      R"({"id":"42","model_name":"mymodel","model_version":"1","outputs":[)"
      R"({"name":"f","datatype":"FP32","shape":[2,2],"data":[1.0,1.100000023841858,NaN,-Infinity]},)"
      R"({"name":"d","datatype":"FP64","shape":[1],"data":[0.1]},)"
      R"({"name":"b","datatype":"BOOL","shape":[2],"data":[true,false]},)"
      R"({"name":"i8","datatype":"INT8","shape":[2],"data":[-128,127]},)"
      R"({"name":"u8","datatype":"UINT8","shape":[1],"data":[255]},)"
      R"({"name":"i64","datatype":"INT64","shape":[1],"data":[-9223372036854775808]},)"
      R"({"name":"u64","datatype":"UINT64","shape":[1],"data":[18446744073709551615]},)"
      R"({"name":"s","datatype":"BYTES","shape":[2],"data":["a\"","\u0000)"
      "\uFFFD"
      R"(\n"]},)"
      R"({"name":"e","datatype":"INT32","shape":[0],"data":[]}]})");
  EXPECT_TRUE(status_.ok()) << status_.message();
  EXPECT_TRUE(binary_.empty());
}

// The answer of the raw binary request example: two FP32 outputs of shape [3, 1].
TEST_F(EncodeInferResponseTest, BinaryOutputsAreViews) {
  Make("");
  Add("output0", tensor::DataType::kFp32, {3, 1}, Bytes<float>({1, 2, 3}));
  Add("output1", tensor::DataType::kFp32, {3, 1}, Bytes<float>({4, 5, 6}));
  Add("none", tensor::DataType::kFp32, {0}, "");
  OutputOptions options;
  options.set_all_binary(true);
  EXPECT_EQ(
      Encode(options),
      R"({"model_name":"mymodel","model_version":"1","outputs":[)"
      R"({"name":"output0","datatype":"FP32","shape":[3,1],"parameters":{"binary_data_size":12}},)"
      R"({"name":"output1","datatype":"FP32","shape":[3,1],"parameters":{"binary_data_size":12}},)"
      R"({"name":"none","datatype":"FP32","shape":[0],"parameters":{"binary_data_size":0}}]})");
  ASSERT_EQ(binary_.size(), 2u);
  EXPECT_EQ(binary_[0].data, response_->outputs()[0]->data);
  EXPECT_EQ(binary_[1].size, 12u);
}

TEST_F(EncodeInferResponseTest, Parameters) {
  Make("");
  response_->parameters() = {{"s", std::string("x")}, {"i", int64_t{-1}}, {"b", true}, {"d", 0.5}};
  EXPECT_EQ(Encode(), R"({"model_name":"mymodel","model_version":"1",)"
                      R"("parameters":{"s":"x","i":-1,"b":true,"d":0.5},"outputs":[]})");
}

TEST_F(EncodeInferResponseTest, Failures) {
  Make("");
  Add("h", tensor::DataType::kFp16, {1}, "ab");
  Encode();
  EXPECT_EQ(status_.message(),
            "sending FP16 data via JSON is not supported. Please use the binary data format for "
            "output h");
  Make("");
  Add("f", tensor::DataType::kFp32, {3}, "abcd");
  Encode();
  EXPECT_EQ(status_.code(), base::StatusCode::kInternal);
  Make("");
  Add("s", tensor::DataType::kBytes, {1}, std::string("\xff\0\0\0a", 5));
  Encode();
  EXPECT_EQ(status_.code(), base::StatusCode::kInternal) << "the model is wrong, not the client";
}

TEST_F(EncodeInferResponseTest, TextsThatAreNotUtf8) {
  Make("i\xff");
  Add("n\xfe", tensor::DataType::kBytes, {2}, std::string("\2\0\0\0a\xc3\2\0\0\0\xc3\xa4", 12));
  response_->parameters() = {{"p\x80", std::string("\xe2\x82")}};
  EXPECT_EQ(Encode(),
            "{\"id\":\"i\uFFFD\",\"model_name\":\"mymodel\",\"model_version\":\"1\","
            "\"parameters\":{\"p\uFFFD\":\"\uFFFD\uFFFD\"},\"outputs\":[{\"name\":\"n\uFFFD\","
            "\"datatype\":\"BYTES\",\"shape\":[2],\"data\":[\"a\uFFFD\",\"\u00E4\"]}]}");
}

TEST_F(EncodeInferResponseTest, LargeTensors) {
  Make("");
  std::string bytes;
  std::string expected;
  for (int32_t i = 0; i < 100'000; ++i) {
    bytes.append(reinterpret_cast<const char*>(&i), sizeof(i));
    expected += (i == 0 ? "" : ",") + std::to_string(i);
  }
  Add("o", tensor::DataType::kInt32, {100'000}, bytes);
  const std::string json = Encode();
  EXPECT_NE(json.find("\"data\":[" + expected + "]}]}"), std::string::npos);
}

}  // namespace
}  // namespace nereid::codec::json
