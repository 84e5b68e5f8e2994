// SPDX-License-Identifier: Apache-2.0
#include "framework/complete_config.h"

#include <gtest/gtest.h>

namespace nereid::framework {
namespace {

TensorSignature Declared(const std::string& name, std::vector<int64_t> dims,
                         TRITONSERVER_DataType type = TRITONSERVER_TYPE_FP32) {
  TensorSignature tensor;
  tensor.name = name;
  tensor.data_type = type;
  tensor.has_rank = true;
  tensor.dims = std::move(dims);
  return tensor;
}

std::string Complete(const ModelSignature& signature, const char* config,
                     const backend::Parameters& settings = {},
                     Completion completion = Completion::kLists) {
  rapidjson::Document document;
  document.Parse(config);
  bool changed = false;
  const Error error = CompleteConfig(signature, settings, completion, &document, &changed);
  if (!error.ok()) {
    return error.message();
  }
  if (!changed) {
    return "unchanged";
  }
  rapidjson::StringBuffer text;
  rapidjson::Writer<rapidjson::StringBuffer> writer(text);
  document.Accept(writer);
  return text.GetString();
}

const ModelSignature kBatching = {{Declared("x", {-1, 4})}, {Declared("y", {-1})}};
const ModelSignature kFixed = {{Declared("x", {2, 4})}, {Declared("y", {})}};

TEST(CompleteConfigTest, Everything) {
  EXPECT_EQ(
      Complete(kBatching, R"({"name":"m"})"),
      R"({"name":"m","max_batch_size":4,"dynamic_batching":{},)"
      R"("input":[{"name":"x","data_type":"TYPE_FP32","dims":[4]}],)"
      R"("output":[{"name":"y","data_type":"TYPE_FP32","dims":[1],"reshape":{"shape":[]}}]})");
  EXPECT_EQ(Complete(kFixed, R"({"name":"m"})"),
            R"({"name":"m","input":[{"name":"x","data_type":"TYPE_FP32","dims":[2,4]}],)"
            R"("output":[{"name":"y","data_type":"TYPE_FP32","dims":[1]}]})");
}

TEST(CompleteConfigTest, WhatIsGivenStays) {
  const char* given = R"({"name":"m","max_batch_size":0,"input":[{"name":"a"}],)"
                      R"("output":[{"name":"b"}]})";
  EXPECT_EQ(Complete(kBatching, given), "unchanged");
  const std::string half =
      Complete(kBatching,
               R"({"name":"m","max_batch_size":2,"sequence_batching":{},"input":[{"name":"a"}]})");
  EXPECT_NE(half.find(R"("max_batch_size":2)"), std::string::npos);
  EXPECT_NE(half.find(R"("input":[{"name":"a"}])"), std::string::npos);
  EXPECT_NE(half.find(R"("output":[{"name":"y")"), std::string::npos);
  EXPECT_EQ(half.find("dynamic_batching"), std::string::npos);
}

TEST(CompleteConfigTest, DefaultMaxBatchSize) {
  const backend::Parameters none("backend", {{"default-max-batch-size", "0"}});
  EXPECT_EQ(Complete(kBatching, R"({"name":"m"})", none),
            R"({"name":"m","max_batch_size":0,)"
            R"("input":[{"name":"x","data_type":"TYPE_FP32","dims":[-1,4]}],)"
            R"("output":[{"name":"y","data_type":"TYPE_FP32","dims":[-1]}]})");
  const backend::Parameters one("backend", {{"default-max-batch-size", "1"}});
  EXPECT_EQ(Complete(kBatching, R"({"name":"m"})", one).find("dynamic_batching"),
            std::string::npos);
}

TEST(CompleteConfigTest, ABatchThatTheModelDoesNotHave) {
  EXPECT_EQ(Complete(kFixed, R"({"name":"m","max_batch_size":2})"),
            "autofill failed for model 'm': model does not support batching while non-zero "
            "max_batch_size is specified");
}

TEST(CompleteConfigTest, ControlsAndStatesAreTheServers) {
  const ModelSignature signature = {
      {Declared("x", {-1, 4}), Declared("start", {-1}), Declared("before", {-1, 1})},
      {Declared("y", {-1, 2}), Declared("after", {-1, 1})}};
  const std::string text =
      Complete(signature, R"({"name":"m","sequence_batching":{"control_input":[{"name":"start"}],)"
                          R"("state":[{"input_name":"before","output_name":"after"}]}})");
  EXPECT_NE(text.find(R"("input":[{"name":"x","data_type":"TYPE_FP32","dims":[4]}])"),
            std::string::npos);
  EXPECT_NE(text.find(R"("output":[{"name":"y","data_type":"TYPE_FP32","dims":[2]}])"),
            std::string::npos);
}

TEST(CompleteConfigTest, WhatCannotBeDescribed) {
  ModelSignature signature = kBatching;
  signature.inputs[0].has_rank = false;
  EXPECT_EQ(Complete(signature, R"({"name":"m"})"),
            "model 'm': input 'x' is FP32 ? in the model: its rank is open, so it cannot be "
            "completed; write input into the configuration");
  signature = kBatching;
  signature.inputs[0].data_type = TRITONSERVER_TYPE_INVALID;
  signature.inputs[0].foreign_type = "complex";
  EXPECT_EQ(Complete(signature, R"({"name":"m"})"),
            "model 'm': input 'x' is complex [-1,4] in the model, which the inference protocol "
            "cannot carry");
  signature = kBatching;  // an output of such a type is left out
  signature.outputs.push_back(Declared("c", {-1}, TRITONSERVER_TYPE_INVALID));
  EXPECT_EQ(Complete(signature, R"({"name":"m"})").find(R"("c")"), std::string::npos);
}

std::string CompleteEntries(const ModelSignature& signature, const char* config) {
  return Complete(signature, config, {}, Completion::kEntries);
}

const ModelSignature kTwo = {
    {Declared("a", {-1, 16}, TRITONSERVER_TYPE_INT32), Declared("b", {-1, 16})},
    {Declared("y", {-1, 16}), Declared("z", {-1, 16})}};

TEST(CompleteConfigTest, EntriesGetWhatTheyLack) {
  EXPECT_EQ(CompleteEntries(kTwo, R"({"name":"m","input":[{"name":"a","data_type":"TYPE_INT32"},)"
                                  R"({"name":"b","data_type":"TYPE_INVALID","dims":[16]}]})"),
            R"({"name":"m","input":[{"name":"a","data_type":"TYPE_INT32","dims":[16]},)"
            R"({"name":"b","dims":[16],"data_type":"TYPE_FP32"}],)"
            R"("max_batch_size":4,"dynamic_batching":{},)"
            R"("output":[{"name":"y","data_type":"TYPE_FP32","dims":[16]},)"
            R"({"name":"z","data_type":"TYPE_FP32","dims":[16]}]})");
}

TEST(CompleteConfigTest, InputsThatAreNotListedAreAdded) {
  const std::string text = CompleteEntries(
      kTwo, R"({"name":"m","max_batch_size":1,"input":[{"name":"b","data_type":"TYPE_FP32",)"
            R"("dims":[16]}],"output":[{"name":"z"}]})");
  EXPECT_NE(
      text.find(R"("dims":[16]},{"name":"a","data_type":"TYPE_INT32","dims":[16]}],"output")"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("output":[{"name":"z","data_type":"TYPE_FP32","dims":[16]}])"),
            std::string::npos)
      << text;
}

TEST(CompleteConfigTest, DimsThatHoldTheBatchMeanNone) {
  for (const char* outputs :
       {R"([{"name":"y","data_type":"TYPE_FP32"},{"name":"z","dims":[-1,16]}])",
        R"([{"name":"z","dims":[-1,16]},{"name":"y","data_type":"TYPE_FP32"}])"}) {
    const std::string text =
        CompleteEntries(kTwo, (R"({"name":"m","output":)" + std::string(outputs) + "}").c_str());
    EXPECT_EQ(text.find("max_batch_size"), std::string::npos) << text;
    EXPECT_EQ(text.find(R"("dims":[16])"), std::string::npos) << text;
  }
  EXPECT_EQ(CompleteEntries(kTwo, R"({"name":"m","input":[{"name":"a","dims":[16]}],)"
                                  R"("output":[{"name":"z","dims":[-1,16]}]})"),
            "unable to autofill for 'm', model tensor configurations are contradicting each other "
            "in terms of whether batching is supported");
}

TEST(CompleteConfigTest, RanksThatAreOpenSayNothingOfBatches) {
  ModelSignature signature = kTwo;
  signature.inputs[0].has_rank = false;
  EXPECT_EQ(CompleteEntries(signature, R"({"name":"m","max_batch_size":8})"),
            "model 'm': input 'a' is INT32 ? in the model: its rank is open, so it cannot be "
            "completed; write input into the configuration");
  EXPECT_EQ(CompleteEntries(signature, R"({"name":"m","input":[{"name":"a"}]})"),
            "Unable to autofill for 'm': the rank of model tensor 'a' is 0 and dimensions are not "
            "defined");
  const std::string text = CompleteEntries(
      signature, R"({"name":"m","max_batch_size":8,"input":[{"name":"a","dims":[3]}]})");
  EXPECT_NE(text.find(R"({"name":"a","dims":[3],"data_type":"TYPE_INT32"})"), std::string::npos)
      << text;
  EXPECT_EQ(CompleteEntries(kFixed, R"({"name":"m","max_batch_size":2})"),
            "unable to autofill for 'm', configuration specified max-batch 2 but model signature "
            "does not support batching");
}

}  // namespace
}  // namespace nereid::framework
