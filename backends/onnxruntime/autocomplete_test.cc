// SPDX-License-Identifier: Apache-2.0
#include "nereid/backend/model_config.h"
#include "onnxruntime/onnx_fixture.h"

namespace nereid::onnxruntime {
namespace {

class AutoCompleteTest : public OnnxTest {
 protected:
  backend::ModelConfig Completed() {
    rapidjson::Document document;
    document.Parse(server_.model().config.c_str());
    return backend::ParseModelConfig(document);
  }
};

TEST_F(AutoCompleteTest, FillsEverythingOfAModelThatBatches) {
  ASSERT_EQ(LoadComplete("mlp"), "");
  const auto config = Completed();
  EXPECT_EQ(config.max_batch_size, 4);
  EXPECT_TRUE(config.has_dynamic_batching);
  ASSERT_EQ(config.inputs.size(), 1u);
  EXPECT_EQ(config.inputs[0].name, "x");
  EXPECT_EQ(config.inputs[0].data_type, TRITONSERVER_TYPE_FP32);
  EXPECT_EQ(config.inputs[0].dims, (std::vector<int64_t>{64}));
  EXPECT_FALSE(config.inputs[0].reshape);
  ASSERT_EQ(config.outputs.size(), 1u);
  EXPECT_EQ(config.outputs[0].dims, (std::vector<int64_t>{10}));
}

TEST_F(AutoCompleteTest, TakesTheDefaultBatchSizeFromTheBackendsSettings) {
  server_.backend().config = R"({"cmdline":{"default-max-batch-size":"1"}})";
  ASSERT_EQ(LoadComplete("mlp"), "");
  EXPECT_EQ(Completed().max_batch_size, 1);
  EXPECT_FALSE(Completed().has_dynamic_batching);
}

TEST_F(AutoCompleteTest, ADefaultOfZeroSwitchesBatchingOff) {
  server_.backend().config = R"({"cmdline":{"default-max-batch-size":"0"}})";
  ASSERT_EQ(LoadComplete("mlp"), "");
  EXPECT_EQ(Completed().max_batch_size, 0);
  EXPECT_EQ(Completed().inputs[0].dims, (std::vector<int64_t>{-1, 64}));
}

TEST_F(AutoCompleteTest, KeepsWhatIsGiven) {
  ASSERT_EQ(Load("mlp",
                 R"("max_batch_size":16,"sequence_batching":{},"input":[)" +
                     Tensor("x", "FP32", "[64]", R"(,"optional":false)") + "]",
                 true),
            "");
  EXPECT_EQ(Completed().max_batch_size, 16);
  EXPECT_FALSE(Completed().has_dynamic_batching);
  EXPECT_EQ(Completed().outputs.size(), 1u);
}

TEST_F(AutoCompleteTest, IsSkippedWhereInputsAndOutputsAreGiven) {
  ASSERT_EQ(
      Load("mlp", Io(0, Tensor("x", "FP32", "[-1,64]"), Tensor("y", "FP32", "[-1,10]")), true), "");
  EXPECT_EQ(Completed().max_batch_size, 0);
  EXPECT_FALSE(Completed().has_dynamic_batching);
}

TEST_F(AutoCompleteTest, ABatchInputCountsAsAnInputGiven) {
  const std::string batch_input =
      R"("batch_input":[{"kind":"BATCH_ELEMENT_COUNT","target_name":["rows"],)"
      R"("data_type":"TYPE_FP32","source_input":["values"]}])";
  // Skipped, so that max_batch_size stays 0 and the input is missed.
  EXPECT_NE(Load("ragged", Io(0, "", Tensor("y", "FP32", "[-1,1]"), batch_input), true), "");
  EXPECT_EQ(Completed().max_batch_size, 0);
  EXPECT_TRUE(Completed().inputs.empty());
}

TEST_F(AutoCompleteTest, BatchInputsAreTheBackendsToMake) {
  EXPECT_EQ(Load("describe_int32", R"("batch_input":[{"kind":"BATCH_ELEMENT_COUNT","target_name":
      ["count","ends"],"data_type":"TYPE_INT32","source_input":["values"]},
      {"kind":"BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO","target_name":["bounds"],
      "data_type":"TYPE_INT32","source_input":["values"]}])",
                 true),
            "");
  EXPECT_EQ(Completed().outputs.size(), 8u);
  std::vector<std::string> names;
  for (const auto& input : Completed().inputs) {
    names.push_back(input.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"values", "widest", "flat", "shapes"}));
}

TEST_F(AutoCompleteTest, OneListIsFilledAndTheOtherStays) {
  ASSERT_EQ(
      Load("mlp",
           R"("output":[)" + Tensor("y", "FP32", "[5,2]", R"(,"reshape":{"shape":[10]})") + "]",
           true),
      "");
  EXPECT_EQ(Completed().max_batch_size, 4);
  EXPECT_EQ(Completed().inputs.size(), 1u);
  EXPECT_EQ(Completed().outputs[0].dims, (std::vector<int64_t>{5, 2}));
}

TEST_F(AutoCompleteTest, ASchedulerThatIsGivenStays) {
  ASSERT_EQ(Load("mlp", R"("dynamic_batching":{"preferred_batch_size":[2]})", true), "");
  EXPECT_NE(server_.model().config.find(R"("preferred_batch_size":[2])"), std::string::npos);
}

TEST_F(AutoCompleteTest, DoesNothingUnlessAsked) {
  EXPECT_NE(Load("mlp", "", false), "");  // the configuration lists no input
  EXPECT_TRUE(Completed().inputs.empty());
}

TEST_F(AutoCompleteTest, ModelsThatDoNotBatch) {
  ASSERT_EQ(LoadComplete("fixed"), "");
  EXPECT_EQ(Completed().max_batch_size, 0);
  EXPECT_EQ(Completed().inputs[0].dims, (std::vector<int64_t>{2, 3}));
}

TEST_F(AutoCompleteTest, ABatchSizeForAModelThatDoesNotBatch) {
  EXPECT_EQ(Load("fixed", R"("max_batch_size":2)", true),
            "autofill failed for model 'fixed': model does not support batching while non-zero "
            "max_batch_size is specified");
}

TEST_F(AutoCompleteTest, DimensionsThatAreEmptyBecomeOne) {
  ASSERT_EQ(LoadComplete("scalar"), "");
  EXPECT_EQ(Completed().inputs[0].dims, (std::vector<int64_t>{1}));
  EXPECT_FALSE(Completed().inputs[0].reshape);
}

TEST_F(AutoCompleteTest, ARankThatIsNotDeclaredIsCompletedAsInTriton) {
  ASSERT_EQ(LoadComplete("any_rank"), "");
  EXPECT_EQ(Completed().inputs[0].dims, (std::vector<int64_t>{1}));
}

TEST_F(AutoCompleteTest, ABatchOfScalarsIsReshaped) {
  ASSERT_EQ(LoadComplete("promise"), "");
  EXPECT_EQ(Completed().max_batch_size, 4);
  EXPECT_EQ(Completed().inputs[0].dims, (std::vector<int64_t>{1}));
  ASSERT_TRUE(Completed().inputs[0].reshape);
  EXPECT_TRUE(Completed().inputs[0].reshape->empty());
}

TEST_F(AutoCompleteTest, OutputsThatAreNoTensorsAreLeftOut) {
  ASSERT_EQ(LoadComplete("sequence"), "");
  ASSERT_EQ(Completed().outputs.size(), 1u);
  EXPECT_EQ(Completed().outputs[0].name, "y");
}

TEST_F(AutoCompleteTest, WhatTheServerAddsIsNotForClients) {
  const char* const kSequence =
      R"("sequence_batching":{"control_input":[{"name":"START","control":[)"
      R"({"kind":"CONTROL_SEQUENCE_START","int32_false_true":[0,1]}]}],"state":[)"
      R"({"input_name":"INPUT_STATE","output_name":"OUTPUT_STATE","data_type":"TYPE_INT32",)"
      R"("dims":["1"]}]})";
  ASSERT_EQ(Load("start_or_add", kSequence, true), "");
  ASSERT_EQ(Completed().inputs.size(), 1u);
  EXPECT_EQ(Completed().inputs[0].name, "INPUT");
  ASSERT_EQ(Completed().outputs.size(), 1u);
  EXPECT_EQ(Completed().outputs[0].name, "OUTPUT");
}

TEST_F(AutoCompleteTest, TextsAreCalledStrings) {
  ASSERT_EQ(LoadComplete("copy_string"), "");
  EXPECT_NE(server_.model().config.find("TYPE_STRING"), std::string::npos);
  EXPECT_EQ(Completed().inputs[0].dims, (std::vector<int64_t>{-1}));
}

}  // namespace
}  // namespace nereid::onnxruntime
