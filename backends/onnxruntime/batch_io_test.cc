// SPDX-License-Identifier: Apache-2.0
// Ragged inputs, batch_input and batch_output.
#include <gmock/gmock.h>

#include <random>

#include "onnxruntime/onnx_fixture.h"

namespace nereid::onnxruntime {
namespace {

using backend::testing::BytesElements;
using backend::testing::BytesTensor;
using ::testing::HasSubstr;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

class BatchIoTest : public OnnxTest {
 protected:
  static std::string BatchInput(const std::string& kind, const std::string& target,
                                const std::string& type, const std::string& source = "values") {
    return R"({"kind":"BATCH_)" + kind + R"(","target_name":[")" + target +
           R"("],"data_type":"TYPE_)" + type + R"(","source_input":[")" + source + R"("]})";
  }
  static std::string AllBatchInputs(const std::string& type) {
    return R"("batch_input":[)" + BatchInput("ELEMENT_COUNT", "count", type) + "," +
           BatchInput("ACCUMULATED_ELEMENT_COUNT", "ends", type) + "," +
           BatchInput("ACCUMULATED_ELEMENT_COUNT_WITH_ZERO", "bounds", type) + "," +
           BatchInput("MAX_ELEMENT_COUNT_AS_SHAPE", "widest", type) + "," +
           BatchInput("ITEM_SHAPE", "shapes", type) + "," +
           BatchInput("ITEM_SHAPE_FLATTEN", "flat", type) + "]";
  }
  static std::string Ragged(const std::string& name = "values", const std::string& type = "FP32",
                            const std::string& dims = "[-1]") {
    return Tensor(name, type, dims, R"(,"allow_ragged_batch":true)");
  }
  static std::string BatchOutput(const std::string& target, const std::string& source) {
    return R"("batch_output":[{"target_name":[")" + target +
           R"("],"kind":"BATCH_SCATTER_WITH_INPUT_SHAPE","source_input":[")" + source + R"("]}])";
  }
  static std::string DescribeOutputs(const std::string& type) {
    std::string text =
        Tensor("doubled", "FP32", "[-1]") + "," + Tensor("out_widest", "INT64", "[1]");
    for (const char* name : {"out_count", "out_end", "out_begin", "out_shape", "out_flat"}) {
      text += "," + Tensor(name, type, "[1]");
    }
    return text;
  }
  std::string LoadDescribe(const std::string& type, const std::string& model) {
    return Load(model, Io(8, Ragged(), DescribeOutputs(type),
                          AllBatchInputs(type) + "," + BatchOutput("doubled", "values")));
  }
  static void Ask(TRITONBACKEND_Request* request, std::vector<int64_t> shape,
                  const Floats& values) {
    request->AddInput<float>("values", TRITONSERVER_TYPE_FP32, std::move(shape), values);
  }
  template <typename T>
  static std::vector<T> Got(const TRITONBACKEND_Request& request, const std::string& output) {
    const auto& answer = request.Answer();
    EXPECT_FALSE(answer.failed) << answer.message;
    const auto found = answer.outputs.find(output);
    return found == answer.outputs.end() ? std::vector<T>() : found->second.As<T>();
  }
};

TEST_F(BatchIoTest, TheModelLearnsWhereEachRequestLies) {
  ASSERT_EQ(LoadDescribe("INT32", "describe_int32"), "");
  TRITONBACKEND_Request a, b, c;
  Ask(&a, {1, 3}, {1, 2, 3});
  Ask(&b, {1, 4}, {4, 5, 6, 7});
  Ask(&c, {1, 5}, {8, 9, 10, 11, 12});
  for (auto* request : {&a, &b, &c}) {
    request->outputs = {"doubled",   "out_count", "out_end",   "out_begin",
                        "out_shape", "out_flat",  "out_widest"};
  }
  ASSERT_EQ(server_.Execute({&a, &b, &c}), "");
  EXPECT_EQ(Got<float>(a, "doubled"), (Floats{2, 4, 6}));
  EXPECT_EQ(Got<float>(b, "doubled"), (Floats{8, 10, 12, 14}));
  EXPECT_EQ(Got<float>(c, "doubled"), (Floats{16, 18, 20, 22, 24}));
  EXPECT_EQ(c.Answer().outputs.at("doubled").shape, (std::vector<int64_t>{1, 5}));
  EXPECT_EQ(Got<int32_t>(b, "out_count"), Ints{4});
  EXPECT_EQ(Got<int32_t>(a, "out_end"), Ints{3});
  EXPECT_EQ(Got<int32_t>(c, "out_end"), Ints{12});
  EXPECT_EQ(Got<int32_t>(a, "out_begin"), Ints{0});
  EXPECT_EQ(Got<int32_t>(c, "out_begin"), Ints{7});
  EXPECT_EQ(Got<int32_t>(b, "out_shape"), Ints{4});
  EXPECT_EQ(Got<int32_t>(c, "out_flat"), Ints{5});
  EXPECT_EQ(Got<int64_t>(a, "out_widest"), std::vector<int64_t>{5});
  ASSERT_EQ(server_.instance().statistics.size(), 1u);
  EXPECT_EQ(server_.instance().statistics[0].batch_size, 3u);
}

TEST_F(BatchIoTest, BatchInputsAsFloats) {
  ASSERT_EQ(LoadDescribe("FP32", "describe_fp32"), "");
  TRITONBACKEND_Request a, b;
  Ask(&a, {1, 2}, {1, 2});
  Ask(&b, {1, 1}, {3});
  a.outputs = b.outputs = {"out_end", "out_begin", "out_shape"};
  ASSERT_EQ(server_.Execute({&a, &b}), "");
  EXPECT_EQ(Got<float>(b, "out_end"), Floats{3});
  EXPECT_EQ(Got<float>(b, "out_begin"), Floats{2});
  EXPECT_EQ(Got<float>(a, "out_shape"), Floats{2});
}

TEST_F(BatchIoTest, ZeroElementsAndOneRequest) {
  ASSERT_EQ(LoadDescribe("INT32", "describe_int32"), "");
  TRITONBACKEND_Request empty, some, alone;
  Ask(&empty, {1, 0}, {});
  Ask(&some, {1, 2}, {5, 6});
  Ask(&alone, {1, 0}, {});
  for (auto* request : {&empty, &some, &alone}) {
    request->outputs = {"doubled", "out_count"};
  }
  ASSERT_EQ(server_.Execute({&empty, &some}), "");
  ASSERT_EQ(server_.Execute({&alone}), "");
  EXPECT_EQ(empty.Answer().outputs.at("doubled").shape, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(Got<int32_t>(empty, "out_count"), Ints{0});
  EXPECT_EQ(Got<float>(some, "doubled"), (Floats{10, 12}));
  EXPECT_EQ(Got<int32_t>(alone, "out_count"), Ints{0});
}

TEST_F(BatchIoTest, ABatchOutputOfTexts) {
  ASSERT_EQ(Load("ragged_string", Io(8, Ragged("texts", "STRING"), Tensor("y", "STRING", "[-1]"),
                                     BatchOutput("y", "texts"))),
            "");
  TRITONBACKEND_Request a, b;
  a.AddRaw("texts", TRITONSERVER_TYPE_BYTES, {1, 1}, BytesTensor({"first"}));
  b.AddRaw("texts", TRITONSERVER_TYPE_BYTES, {2, 1}, BytesTensor({"", "third"}));
  a.outputs = b.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&a, &b}), "");
  EXPECT_EQ(BytesElements(a.Answer().outputs.at("y").data), std::vector<std::string>{"first"});
  EXPECT_EQ(BytesElements(b.Answer().outputs.at("y").data),
            (std::vector<std::string>{"", "third"}));
  EXPECT_EQ(b.Answer().outputs.at("y").shape, (std::vector<int64_t>{2, 1}));
}

TEST_F(BatchIoTest, AnOutputThatDoesNotAddUpFailsItsRequestOnly) {
  ASSERT_EQ(
      Load("shorten", Io(8, Ragged(), Tensor("y", "FP32", "[-1]"), BatchOutput("y", "values"))),
      "");
  TRITONBACKEND_Request good, bad, other;
  Ask(&good, {1, 2}, {1, 2});
  Ask(&bad, {1, 3}, {3, 0, 4});
  Ask(&other, {1, 1}, {5});
  good.outputs = bad.outputs = other.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&good, &bad, &other}), "");
  EXPECT_EQ(Got<float>(good, "y"), (Floats{1, 2}));
  EXPECT_EQ(Got<float>(other, "y"), Floats{5});
  EXPECT_EQ(bad.Answer().message,
            "output 'y' has 2 elements, but the 1 requests of the batch need 3");
}

TEST_F(BatchIoTest, RaggedRequestsThatAreWrongFailAlone) {
  ASSERT_EQ(LoadDescribe("INT32", "describe_int32"), "");
  TRITONBACKEND_Request good, short_one, huge, missing, gpu;
  Ask(&good, {1, 2}, {1, 2});
  Ask(&short_one, {1, 3}, {1, 2});
  Ask(&huge, {1, INT64_MAX}, {1});
  Ask(&gpu, {1, 1}, {1});
  gpu.inputs[0].memory_type = TRITONSERVER_MEMORY_GPU;
  good.inputs[0].memory_type = TRITONSERVER_MEMORY_CPU_PINNED;
  const std::vector<TRITONBACKEND_Request*> all = {&short_one, &good, &huge, &missing, &gpu};
  for (auto* request : all) {
    request->outputs = {"doubled", "out_end"};
  }
  ASSERT_EQ(server_.Execute(all), "");
  EXPECT_EQ(Got<float>(good, "doubled"), (Floats{2, 4}));
  EXPECT_EQ(Got<int32_t>(good, "out_end"), Ints{2});
  for (auto* request : {&short_one, &huge, &missing, &gpu}) {
    EXPECT_TRUE(request->Answer().failed);
  }
}

TEST_F(BatchIoTest, WhateverTheBatchEachRequestGetsOneAnswer) {
  ASSERT_EQ(LoadDescribe("INT32", "describe_int32"), "");
  std::mt19937 random(20240608);
  const auto pick = [&](unsigned most) { return static_cast<int64_t>(random() % (most + 1)); };
  const int64_t odd[] = {0, -1, INT64_MAX, INT64_MIN, INT64_MAX / 2, int64_t{1} << 31};
  int answered = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<TRITONBACKEND_Request> requests(static_cast<size_t>(1 + pick(3)));
    std::vector<TRITONBACKEND_Request*> pointers;
    for (auto& request : requests) {
      std::vector<int64_t> shape = {1, pick(5)};
      const auto count = static_cast<size_t>(shape[1] + (pick(9) == 0 ? 1 : 0));
      if (pick(9) == 0) {
        shape[static_cast<size_t>(pick(1))] = odd[pick(5)];
      }
      if (pick(19) == 0) {
        shape.resize(static_cast<size_t>(pick(3)), 1);
      }
      Ask(&request, shape, Floats(count, 1.0f));
      if (pick(9) == 0) {
        request.inputs[0].byte_size = random();
      }
      request.outputs = {"doubled",   "out_count", "out_begin",
                         "out_shape", "out_flat",  "out_widest"};
      pointers.push_back(&request);
    }
    ASSERT_EQ(server_.Execute(pointers), "");
    for (auto& request : requests) {
      answered += request.Answer().failed ? 0 : 1;
    }
  }
  EXPECT_GT(answered, 100);  // else the requests were too wrong to reach the model
}

TEST_F(BatchIoTest, ATargetOfAnotherRank) {
  ASSERT_EQ(Load("default_row",
                 Io(0, Tensor("x", "FP32", "[-1,4]", R"(,"optional":true)"),
                    Tensor("y", "FP32", "[-1,4]"),
                    R"("batch_input":[)" +
                        BatchInput("MAX_ELEMENT_COUNT_AS_SHAPE", "bias", "FP32", "x") + "]")),
            "model 'default_row': batch_input 'bias' has rank 1, but the ONNX model declares "
            "[-1,4]");
}

TEST_F(BatchIoTest, TargetsAreCheckedAgainstTheModel) {
  const auto load = [&](const std::string& batch_input, const std::string& type = "INT32") {
    return Load("describe_int32",
                Io(8, Ragged(), DescribeOutputs(type),
                   R"("batch_input":[)" + batch_input + "]," + BatchOutput("doubled", "values")));
  };
  EXPECT_THAT(load(BatchInput("ELEMENT_COUNT", "nowhere", "INT32")),
              HasSubstr("batch_input names the target 'nowhere', which the ONNX model lacks; its "
                        "inputs are: values (FP32 [-1]), count (INT32 [-1])"));
  EXPECT_THAT(load(BatchInput("ELEMENT_COUNT", "values", "FP32")),
              HasSubstr("'values', which clients are to send as well"));
  EXPECT_THAT(load(BatchInput("ELEMENT_COUNT", "count", "FP32")),
              HasSubstr("configuration expects datatype TYPE_FP32 for batch_input 'count', model "
                        "provides TYPE_INT32"));
  EXPECT_THAT(load(BatchInput("ITEM_SHAPE", "count", "INT32")),
              HasSubstr("batch_input 'count' has rank 2, but the ONNX model declares [-1]"));
  EXPECT_THAT(load(BatchInput("ELEMENT_COUNT", "count", "INT32", "count")),
              HasSubstr("names the source input 'count', which the configuration does not list"));
  EXPECT_THAT(load(BatchInput("SOMETHING", "count", "INT32")), HasSubstr("lacks a known kind"));
  EXPECT_THAT(load(BatchInput("ELEMENT_COUNT", "count", "INT32")),
              HasSubstr("configuration expects 2 inputs, model provides 7"));
}

TEST_F(BatchIoTest, BatchOutputsAreCheckedToo) {
  EXPECT_THAT(
      Load("shorten", Io(8, Ragged(), Tensor("y", "FP32", "[-1]"), BatchOutput("y", "elsewhere"))),
      HasSubstr("batch_output names the source input 'elsewhere'"));
  EXPECT_THAT(
      Load("shorten", Io(8, Ragged(), Tensor("y", "INT32", "[-1]"), BatchOutput("y", "values"))),
      HasSubstr("configuration expects datatype TYPE_INT32 for output 'y', model provides "));
}

}  // namespace
}  // namespace nereid::onnxruntime
