// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/message_shape.h"

#include <gtest/gtest.h>

#include <string>

#include "grpc_service.pb.h"

namespace nereid::codec::proto {
namespace {

inference::ModelInferRequest WithInput(const std::string& datatype) {
  inference::ModelInferRequest request;
  request.set_model_name("model");
  auto* input = request.add_inputs();
  input->set_name("INPUT0");
  input->set_datatype(datatype);
  input->add_shape(7);
  return request;
}

TEST(MessageShape, TellsRawContentsFromTheRest) {
  auto request = WithInput("UINT8");
  const size_t structure = request.ByteSizeLong();
  request.add_raw_input_contents(std::string(100'000, 'x'));
  const MessageShape shape = ShapeOf(request.SerializeAsString());
  EXPECT_TRUE(shape.known);
  EXPECT_EQ(shape.raw_bytes, 100'000u);
  EXPECT_LT(shape.structure_bytes, structure + 10);
  EXPECT_FALSE(shape.has_bytes_input);
}

TEST(MessageShape, CountsContentsAsStructure) {
  auto request = WithInput("FP32");
  for (int i = 0; i < 25'000; ++i)
    request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
  const MessageShape shape = ShapeOf(request.SerializeAsString());
  EXPECT_TRUE(shape.known);
  EXPECT_EQ(shape.raw_bytes, 0u);
  EXPECT_GT(shape.structure_bytes, 100'000u);
}

TEST(MessageShape, SeesInputsOfStrings) {
  EXPECT_TRUE(ShapeOf(WithInput("BYTES").SerializeAsString()).has_bytes_input);
}

TEST(MessageShape, GivesUpOnManyFieldsAndOnDamage) {
  auto request = WithInput("UINT8");
  for (int i = 0; i < 200; ++i) request.add_raw_input_contents("x");
  EXPECT_FALSE(ShapeOf(request.SerializeAsString()).known);
  const std::string whole = WithInput("UINT8").SerializeAsString();
  EXPECT_FALSE(ShapeOf(whole.substr(0, whole.size() - 1)).known);
  EXPECT_FALSE(ShapeOf("\xff\xff\xff").known);
  EXPECT_TRUE(ShapeOf("").known);
}

}  // namespace
}  // namespace nereid::codec::proto
