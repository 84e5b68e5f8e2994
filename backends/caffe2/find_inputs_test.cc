// SPDX-License-Identifier: Apache-2.0
// What clients send: as the configuration says or, without one, as the net tells.
#include <gmock/gmock.h>

#include "caffe2/testing/net_fixture.h"

namespace nereid::caffe2 {
namespace {

using ::testing::HasSubstr;
using testing::NetCase;

class FindInputsTest : public testing::NetTest {
 protected:
  /// "x FP32 [-1,3]; ..." or the failure.
  static std::string Find(const std::string& net, const ModelConfig& config = {}) {
    NetCase made = testing::ParseCase(net);
    std::vector<NetInput> inputs;
    if (const Error error = FindInputs(made.nets, config, &inputs); !error.ok()) {
      return error.message();
    }
    std::string text;
    for (const NetInput& input : inputs) {
      text += (text.empty() ? "" : "; ") + input.name + " " + TypeText(input.type) + " " +
              ShapeText(input.shape);
    }
    return text;
  }

  static backend::TensorConfig Tensor(const std::string& name, TRITONSERVER_DataType type,
                                      Shape dims) {
    backend::TensorConfig tensor;
    tensor.name = name;
    tensor.data_type = type;
    tensor.dims = std::move(dims);
    return tensor;
  }
};

// Operators that the net's inputs go through; the types and shapes of `input` are not looked at.
const char* const kInput = "input x FP32 []\n";

TEST_F(FindInputsTest, AFullyConnectedLayerTellsItsColumns) {
  const std::string fill = "init ConstantFill -> w shape=[3,8]\ninit ConstantFill -> b shape=[3]\n";
  EXPECT_EQ(Find(kInput + fill + "FC x w b -> y"), "x FP32 [-1,8]");
  EXPECT_EQ(Find(kInput + fill + "FCTransposed x w b -> y"), "x FP32 [-1,3]");
  EXPECT_EQ(Find(kInput + fill + "FC x w b -> y axis=2"),
            "the configuration must list the inputs: the net does not tell the dimensions of 'x'");
}

TEST_F(FindInputsTest, AConvolutionTellsRankAndChannels) {
  const std::string fill = "init XavierFill -> w shape=[4,3,5,5]\n";
  EXPECT_EQ(Find(kInput + fill + "Conv x w -> y kernel=5"), "x FP32 [-1,3,-1,-1]");
  EXPECT_EQ(Find(kInput + fill + "Conv x w -> y kernel=5 group=2"), "x FP32 [-1,-1,-1,-1]");
  EXPECT_EQ(Find(kInput + fill + "ConvTranspose x w -> y kernel=5"), "x FP32 [-1,4,-1,-1]");
  EXPECT_EQ(Find(kInput + std::string("init XavierFill -> w shape=[4,5,5,3]\n") +
                 "Conv x w -> y kernel=5 order=NHWC"),
            "x FP32 [-1,-1,-1,3]");
}

TEST_F(FindInputsTest, OperatorsThatKeepTheChannelsAreLookedThrough) {
  EXPECT_EQ(Find(kInput + std::string("init XavierFill -> w shape=[4,3,1,1]\n") +
                 "Scale x -> x scale=2.0\nRelu x -> a\nMaxPool a -> b kernel=2\nConv b w -> y"),
            "x FP32 [-1,3,-1,-1]");
  EXPECT_EQ(Find(kInput + std::string("init XavierFill -> w shape=[4,3,1,1]\n") +
                 "NHWC2NCHW x -> a\nConv a w -> y"),
            "x FP32 [-1,-1,-1,3]");
  EXPECT_EQ(Find(kInput + std::string("init XavierFill -> w shape=[4,9]\n") +
                 "HalfToFloat x -> a\nFC a w w -> y"),
            "x FP16 [-1,9]");
}

TEST_F(FindInputsTest, ChainsEnd) {
  std::string chain = kInput;
  for (int i = 0; i < 200; ++i) {
    chain += "Relu x -> x\n";
  }
  EXPECT_THAT(Find(chain), HasSubstr("does not tell the dimensions of 'x'"));
}

TEST_F(FindInputsTest, WhatTheInitNetFillsIsNoInput) {
  const std::string net =
      "input x FP32 []\ninput w FP32 []\ninput b FP32 []\n"
      "init XavierFill -> w shape=[4,8]\ninit ConstantFill -> b shape=[4]\nFC x w b -> y";
  EXPECT_EQ(Find(net), "x FP32 [-1,8]");
}

TEST_F(FindInputsTest, APlaceholderOfOneNumberIsAnInput) {
  EXPECT_EQ(Find(kInput + std::string("init GivenTensorFill -> x shape=[1] values=[0.0]\n") +
                 "init XavierFill -> w shape=[4,8]\nFC x w w -> y"),
            "x FP32 [-1,8]");
}

TEST_F(FindInputsTest, TheConfigurationDecides) {
  ModelConfig config;
  config.max_batch_size = 4;
  config.inputs = {Tensor("x", TRITONSERVER_TYPE_INT64, {3, -1})};
  EXPECT_EQ(Find("input x FP32 []\nRelu x -> y", config), "x INT64 [-1,3,-1]");
  config.inputs[0].reshape = Shape{};
  EXPECT_EQ(Find("input x FP32 []\nRelu x -> y", config), "x INT64 [-1]");
  config.inputs[0].reshape.reset();
  config.inputs[0].dims = {-1};
  config.inputs[0].allow_ragged_batch = true;
  EXPECT_EQ(Find("input x FP32 []\nRelu x -> y", config), "x INT64 [-1]");
}

TEST_F(FindInputsTest, WhatTheServerAndTheBackendMakeIsAnInputToo) {
  ModelConfig config;
  config.max_batch_size = 4;
  config.inputs = {Tensor("x", TRITONSERVER_TYPE_FP32, {3})};
  config.controls = {{"start", TRITONSERVER_TYPE_FP32}};
  config.states = {{"state", Tensor("next", TRITONSERVER_TYPE_INT32, {2}), false}};
  backend::BatchInputConfig count;
  count.kind = backend::BatchInputKind::kElementCount;
  count.targets = {"count"};
  count.data_type = TRITONSERVER_TYPE_INT32;
  backend::BatchInputConfig shape = count;
  shape.kind = backend::BatchInputKind::kItemShape;
  shape.targets = {"shape"};
  config.batch_inputs = {count, shape};
  const std::string net =
      "input x FP32 []\ninput start FP32 []\ninput state FP32 []\ninput count FP32 []\n"
      "input shape FP32 []\nRelu x -> y";
  EXPECT_EQ(Find(net, config),
            "x FP32 [-1,3]; start FP32 [-1,1]; state INT32 [-1,2]; count INT32 [-1]; shape INT32 "
            "[-1,-1]");
}

TEST_F(FindInputsTest, NamesAndTypesThatDoNotExist) {
  ModelConfig config;
  config.inputs = {Tensor("z", TRITONSERVER_TYPE_FP32, {3})};
  EXPECT_EQ(Find("input x FP32 []\nRelu x -> y", config),
            "the net has no external_input 'z', which the configuration names as input; it has: "
            "'x'");
  config.inputs = {Tensor("x", TRITONSERVER_TYPE_UINT32, {3})};
  EXPECT_EQ(Find("input x FP32 []\nRelu x -> y", config),
            "input 'x' has the data type TYPE_UINT32, which Caffe2 nets do not take");
  config.inputs = {Tensor("x", TRITONSERVER_TYPE_BYTES, {3})};
  EXPECT_EQ(Find("input x FP32 []\nRelu x -> y", config),
            "input 'x' has the data type TYPE_STRING, which Caffe2 nets do not take");
}

// The whole plug-in: what a configuration without anything becomes.

TEST_F(FindInputsTest, AConfigurationIsCompleted) {
  const NetCase net = testing::ParseCase(
      "input x FP32 []\ninit XavierFill -> w shape=[4,8]\ninit ConstantFill -> b shape=[4]\n"
      "FC x w b -> y\nSoftmax y -> y\noutput y");
  WriteFiles(net.nets.init.SerializeAsString(), net.nets.predict.SerializeAsString());
  ASSERT_EQ(LoadFiles(""), "");
  rapidjson::Document document;
  document.Parse(server_.model().config.c_str());
  const ModelConfig config = backend::ParseModelConfig(document);
  EXPECT_EQ(config.max_batch_size, 4);
  ASSERT_EQ(config.inputs.size(), 1u);
  EXPECT_EQ(config.inputs[0].name, "x");
  EXPECT_EQ(config.inputs[0].dims, Shape{8});
  ASSERT_EQ(config.outputs.size(), 1u);
  EXPECT_EQ(config.outputs[0].name, "y");
  EXPECT_EQ(config.outputs[0].dims, Shape{4});
}

TEST_F(FindInputsTest, AConfigurationThatTheNetCannotKeep) {
  const NetCase net = testing::ParseCase("input x FP32 []\nRelu x -> y");
  WriteFiles(net.nets.init.SerializeAsString(), net.nets.predict.SerializeAsString());
  EXPECT_EQ(LoadFiles(R"("input":[{"name":"x","data_type":"TYPE_FP32","dims":[3]}],)"
                      R"("output":[{"name":"z","data_type":"TYPE_FP32","dims":[3]}])"),
            "unexpected inference output 'z', allowed outputs are: y");
  EXPECT_EQ(LoadFiles(R"("input":[{"name":"x","data_type":"TYPE_FP32","dims":[3]}],)"
                      R"("output":[{"name":"y","data_type":"TYPE_INT32","dims":[3]}])"),
            "unable to load model 'net', configuration expects datatype TYPE_INT32 for output 'y', "
            "model provides TYPE_FP32");
  EXPECT_THAT(LoadFiles(R"("input":[{"name":"x","data_type":"TYPE_FP32","dims":[3]}],)"
                        R"("model_transaction_policy":{"decoupled":true})"),
              HasSubstr("decoupled is not supported by the Caffe2 backend"));
  EXPECT_EQ(LoadFiles(""), "model 'net': '" + folder() +
                               "/1/model.netdef': the configuration must list the inputs: the net "
                               "does not tell the dimensions of 'x'");
}

}  // namespace
}  // namespace nereid::caffe2
