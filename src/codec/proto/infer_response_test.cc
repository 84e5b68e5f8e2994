// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/infer_response.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "grpc_service.pb.h"
#include "request/discarding_sink.h"
#include "request/response_factory.h"

namespace nereid::codec::proto {
namespace {

class EncodeInferResponseTest : public ::testing::Test {
 protected:
  EncodeInferResponseTest() {
    auto model = std::make_shared<request::ModelIdentity>();
    model->name = "model";
    model->version = 3;
    model->version_text = "3";
    factory_ = std::make_shared<request::ResponseFactory>(
        std::make_shared<request::DiscardingSink>(), model, "id",
        std::make_shared<request::Cancellation>());
    factory_->Disarm();
    response_ = std::move(factory_->NewResponse()).value();
  }

  const char* Add(const std::string& name, tensor::Shape shape, std::string_view bytes) {
    request::Output* output =
        *response_->AddOutput(name, tensor::DataType::kUint8, std::move(shape));
    memory::MemoryType type = memory::MemoryType::kCpu;
    int64_t id = 0;
    EXPECT_TRUE(response_->AllocateOutput(output, bytes.size(), &type, &id).ok());
    if (!bytes.empty()) std::memcpy(output->data, bytes.data(), bytes.size());
    return output->data;
  }

  static std::string Join(const EncodedMessage& message, size_t headroom) {
    std::string bytes;
    for (std::string_view piece : message.pieces) bytes += piece;
    EXPECT_EQ(bytes.size(), message.size + headroom);
    return bytes.substr(headroom);
  }

  std::shared_ptr<request::ResponseFactory> factory_;
  std::unique_ptr<request::InferenceResponse> response_;
};

TEST_F(EncodeInferResponseTest, ProtobufReadsWhatIsWritten) {
  const std::string large(5000, 'L');
  Add("small", {2, -1, 1 << 20}, "ab");
  const char* const data = Add("large", {5000}, large);
  Add("empty", {0}, "");
  Add("scalar", {}, "s");
  response_->parameters() = {
      {"text", std::string("value")}, {"number", int64_t{-7}}, {"flag", true}, {"real", 2.5}};
  auto encoded = EncodeInferResponse(std::move(response_), {.headroom = 5});
  ASSERT_TRUE(encoded.ok());
  bool viewed = false;
  for (std::string_view piece : encoded->pieces) viewed |= piece.data() == data;
  EXPECT_TRUE(viewed) << "the large tensor was copied";

  inference::ModelInferResponse message;
  ASSERT_TRUE(message.ParseFromString(Join(*encoded, 5)));
  EXPECT_EQ(message.model_name(), "model");
  EXPECT_EQ(message.model_version(), "3");
  EXPECT_EQ(message.id(), "id");
  EXPECT_EQ(message.parameters().at("text").string_param(), "value");
  EXPECT_EQ(message.parameters().at("number").int64_param(), -7);
  EXPECT_EQ(message.parameters().at("flag").bool_param(), true);
  EXPECT_EQ(message.parameters().at("real").double_param(), 2.5);
  ASSERT_EQ(message.outputs_size(), 4);
  EXPECT_EQ(message.outputs(0).name(), "small");
  EXPECT_EQ(message.outputs(0).datatype(), "UINT8");
  ASSERT_EQ(message.outputs(0).shape_size(), 3);
  EXPECT_EQ(message.outputs(0).shape(1), -1);
  EXPECT_EQ(message.outputs(0).shape(2), 1 << 20);
  EXPECT_EQ(message.outputs(3).shape_size(), 0);
  ASSERT_EQ(message.raw_output_contents_size(), 4);
  EXPECT_EQ(message.raw_output_contents(0), "ab");
  EXPECT_EQ(message.raw_output_contents(1), large);
  EXPECT_EQ(message.raw_output_contents(2), "");
  EXPECT_EQ(message.raw_output_contents(3), "s");
  // Byte for byte what protobuf writes, but for the order of the parameters.
  EXPECT_EQ(message.ByteSizeLong(), encoded->size);
}

TEST_F(EncodeInferResponseTest, OutputsInSharedMemoryHaveEmptyContents) {
  Add("shared", {5000}, std::string(5000, 'L'));
  Add("other", {1}, "c");
  response_->outputs()[0]->in_shared_memory = true;
  const auto encoded = EncodeInferResponse(std::move(response_), {});
  ASSERT_TRUE(encoded.ok());
  inference::ModelInferResponse message;
  ASSERT_TRUE(message.ParseFromString(Join(*encoded, 0)));
  EXPECT_EQ(message.outputs(0).shape(0), 5000);
  EXPECT_TRUE(message.outputs(0).parameters().empty());
  ASSERT_EQ(message.raw_output_contents_size(), 2);
  EXPECT_EQ(message.raw_output_contents(0), "");
  EXPECT_EQ(message.raw_output_contents(1), "c");
}

TEST_F(EncodeInferResponseTest, StreamsWrapTheResponseAndMarkTheFinalOne) {
  Add("OUT", {2}, "ab");
  auto encoded =
      EncodeInferResponse(std::move(response_), {.stream = true, .final_response = false});
  ASSERT_TRUE(encoded.ok());
  inference::ModelStreamInferResponse message;
  ASSERT_TRUE(message.ParseFromString(Join(*encoded, 0)));
  EXPECT_EQ(message.error_message(), "");
  const auto& inner = message.infer_response();
  EXPECT_EQ(inner.raw_output_contents(0), "ab");
  const auto& final = inner.parameters().at("triton_final_response");
  EXPECT_EQ(final.parameter_choice_case(), inference::InferParameter::kBoolParam);
  EXPECT_FALSE(final.bool_param());
}

TEST_F(EncodeInferResponseTest, NoticesCarryTextAndFinalFlag) {
  const EncodedMessage encoded = EncodeStreamNotice(
      {.error_message = "bad \xff", .id = "7", .model_name = "M", .final_response = true}, 5);
  inference::ModelStreamInferResponse message;
  ASSERT_TRUE(message.ParseFromString(Join(encoded, 5)));
  EXPECT_EQ(message.error_message(), "bad \uFFFD");
  EXPECT_EQ(message.infer_response().id(), "7");
  EXPECT_EQ(message.infer_response().model_name(), "M");
  EXPECT_TRUE(message.infer_response().parameters().at("triton_final_response").bool_param());
}

TEST_F(EncodeInferResponseTest, TextsOfAPluginBecomeUtf8) {
  Add("o\xff", {1}, "\xff");
  response_->parameters() = {{"p\xfe", std::string("v\xc3")}};
  const auto encoded = EncodeInferResponse(std::move(response_), {});
  ASSERT_TRUE(encoded.ok());
  inference::ModelInferResponse message;
  ASSERT_TRUE(message.ParseFromString(Join(*encoded, 0)));
  EXPECT_EQ(message.outputs(0).name(), "o\uFFFD");
  EXPECT_EQ(message.parameters().at("p\uFFFD").string_param(), "v\uFFFD");
  EXPECT_EQ(message.raw_output_contents(0), "\xff");
}

TEST_F(EncodeInferResponseTest, ALongErrorKeepsItsEnd) {
  const std::string text = "first" + std::string(3 << 20, '.') + "last";
  const EncodedMessage encoded = EncodeStreamNotice({.error_message = text}, 0);
  inference::ModelStreamInferResponse message;
  ASSERT_TRUE(message.ParseFromString(Join(encoded, 0)));
  EXPECT_LE(message.error_message().size(), size_t{1} << 20);
  EXPECT_TRUE(message.error_message().starts_with("first"));
  EXPECT_TRUE(message.error_message().ends_with("last"));
}

TEST_F(EncodeInferResponseTest, RefusesWhatIsLargerThanAMessage) {
  request::Output* output = *response_->AddOutput("OUT", tensor::DataType::kUint8, {1});
  output->data = const_cast<char*>("");
  output->size = kMaxMessageSize;  // never read: the size alone is refused
  auto encoded = EncodeInferResponse(std::move(response_), {});
  ASSERT_FALSE(encoded.ok());
  EXPECT_EQ(encoded.status().code(), base::StatusCode::kInvalidArgument);
  EXPECT_NE(encoded.status().message().find("which exceeds gRPC's byte size limit 2147483647."),
            std::string::npos);
}

}  // namespace
}  // namespace nereid::codec::proto
