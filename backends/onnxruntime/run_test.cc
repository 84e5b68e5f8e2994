// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "onnxruntime/onnx_fixture.h"

namespace nereid::onnxruntime {
namespace {

using backend::testing::BytesElements;
using backend::testing::BytesTensor;
using backend::testing::Faults;
using ::testing::HasSubstr;

class RunTest : public OnnxTest {
 protected:
  static void AddFloats(TRITONBACKEND_Request* request, const std::string& name,
                        std::vector<int64_t> shape, const std::vector<float>& values) {
    request->AddInput<float>(name, TRITONSERVER_TYPE_FP32, std::move(shape), values);
  }
};

std::vector<float> Ramp(size_t count, float start) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), start);
  return values;
}

TEST_F(RunTest, ABatchGivesWhatItsRequestsGiveAlone) {
  ASSERT_EQ(LoadComplete("mlp"), "");
  TRITONBACKEND_Request a, b, a_alone, b_alone;
  for (auto* request : {&a, &a_alone}) {
    AddFloats(request, "x", {1, 64}, Ramp(64, 0));
  }
  for (auto* request : {&b, &b_alone}) {
    AddFloats(request, "x", {2, 64}, Ramp(128, -30));
  }
  for (auto* request : {&a, &b, &a_alone, &b_alone}) {
    request->outputs = {"y"};
  }
  ASSERT_EQ(server_.Execute({&a, &b}), "");
  ASSERT_EQ(server_.Execute({&a_alone}), "");
  ASSERT_EQ(server_.Execute({&b_alone}), "");
  EXPECT_EQ(a.Answer().outputs.at("y").shape, (std::vector<int64_t>{1, 10}));
  EXPECT_EQ(b.Answer().outputs.at("y").shape, (std::vector<int64_t>{2, 10}));
  const auto together = b.Answer().outputs.at("y").As<float>();
  const auto alone = b_alone.Answer().outputs.at("y").As<float>();
  ASSERT_EQ(together.size(), 20u);
  for (size_t i = 0; i < together.size(); ++i) {
    EXPECT_NEAR(together[i], alone[i], 1e-3);
    EXPECT_TRUE(std::isfinite(together[i]));
  }
  EXPECT_NE(together[0], together[10]);
  EXPECT_NEAR(a.Answer().outputs.at("y").As<float>()[3],
              a_alone.Answer().outputs.at("y").As<float>()[3], 1e-3);
  ASSERT_EQ(server_.instance().statistics.size(), 3u);
  EXPECT_EQ(server_.instance().statistics[0].batch_size, 3u);
}

TEST_F(RunTest, OnlyWantedOutputsAreGiven) {
  ASSERT_EQ(LoadComplete("add_sub_int32"), "");
  TRITONBACKEND_Request sum, difference;
  std::vector<int32_t> ones(16, 1), values(16);
  std::iota(values.begin(), values.end(), 5);
  for (auto* request : {&sum, &difference}) {
    request->AddInput<int32_t>("INPUT0", TRITONSERVER_TYPE_INT32, {1, 16}, values);
    request->AddInput<int32_t>("INPUT1", TRITONSERVER_TYPE_INT32, {1, 16}, ones);
  }
  sum.outputs = {"OUTPUT0"};
  difference.outputs = {"OUTPUT1"};
  ASSERT_EQ(server_.Execute({&sum, &difference}), "");
  ASSERT_EQ(sum.Answer().outputs.size(), 1u);
  EXPECT_EQ(sum.Answer().outputs.at("OUTPUT0").As<int32_t>()[15], 21);
  ASSERT_EQ(difference.Answer().outputs.size(), 1u);
  EXPECT_EQ(difference.Answer().outputs.at("OUTPUT1").As<int32_t>()[15], 19);
}

class EveryType
    : public RunTest,
      public ::testing::WithParamInterface<std::pair<const char*, TRITONSERVER_DataType>> {};

TEST_P(EveryType, PassesUnchanged) {
  const auto [name, type] = GetParam();
  ASSERT_EQ(LoadComplete(std::string("copy_") + name), "");
  const size_t size = TRITONSERVER_DataTypeByteSize(type) * 3;
  for (const int count : {1, 2}) {
    std::vector<TRITONBACKEND_Request> requests(static_cast<size_t>(count));
    std::vector<TRITONBACKEND_Request*> pointers;
    for (auto& request : requests) {
      std::string bytes(size, '\0');
      for (size_t i = 0; i < size; ++i) {
        bytes[i] = type == TRITONSERVER_TYPE_BOOL ? static_cast<char>(i % 2)
                                                  : static_cast<char>(7 * i + pointers.size() + 1);
      }
      request.AddRaw("x", type, {1, 3}, bytes);
      request.outputs = {"y"};
      pointers.push_back(&request);
    }
    ASSERT_EQ(server_.Execute(pointers), "");
    for (auto& request : requests) {
      const auto& output = request.Answer().outputs.at("y");
      EXPECT_EQ(output.data_type, type);
      EXPECT_EQ(output.shape, (std::vector<int64_t>{1, 3}));
      EXPECT_EQ(output.data, request.inputs[0].pieces[0]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, EveryType,
                         ::testing::Values(std::pair("bool", TRITONSERVER_TYPE_BOOL),
                                           std::pair("uint8", TRITONSERVER_TYPE_UINT8),
                                           std::pair("uint16", TRITONSERVER_TYPE_UINT16),
                                           std::pair("uint32", TRITONSERVER_TYPE_UINT32),
                                           std::pair("uint64", TRITONSERVER_TYPE_UINT64),
                                           std::pair("int8", TRITONSERVER_TYPE_INT8),
                                           std::pair("int16", TRITONSERVER_TYPE_INT16),
                                           std::pair("int32", TRITONSERVER_TYPE_INT32),
                                           std::pair("int64", TRITONSERVER_TYPE_INT64),
                                           std::pair("fp16", TRITONSERVER_TYPE_FP16),
                                           std::pair("fp32", TRITONSERVER_TYPE_FP32),
                                           std::pair("fp64", TRITONSERVER_TYPE_FP64),
                                           std::pair("bf16", TRITONSERVER_TYPE_BF16)),
                         [](const auto& info) { return std::string(info.param.first); });

TEST_F(RunTest, TextsOfABatch) {
  ASSERT_EQ(LoadComplete("exclaim"), "");
  TRITONBACKEND_Request a, b;
  const std::string nul("n\0l", 3);
  a.AddRaw("x", TRITONSERVER_TYPE_BYTES, {1, 1}, BytesTensor({"long enough to leave the string"}));
  b.AddRaw("x", TRITONSERVER_TYPE_BYTES, {2, 1}, BytesTensor({"", "c"}));
  a.outputs = b.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&a, &b}), "");
  EXPECT_EQ(BytesElements(a.Answer().outputs.at("y").data),
            std::vector<std::string>{"long enough to leave the string!"});
  EXPECT_EQ(BytesElements(b.Answer().outputs.at("y").data), (std::vector<std::string>{"!", "c!"}));
  EXPECT_EQ(b.Answer().outputs.at("y").shape, (std::vector<int64_t>{2, 1}));
}

TEST_F(RunTest, TextsMayHoldZeroBytesAndTensorsNoElement) {
  ASSERT_EQ(LoadComplete("copy_string"), "");
  TRITONBACKEND_Request request, empty;
  const std::string nul("n\0l", 3);
  request.AddRaw("x", TRITONSERVER_TYPE_BYTES, {1, 2}, BytesTensor({nul, ""}));
  empty.AddRaw("x", TRITONSERVER_TYPE_BYTES, {1, 0}, "");
  request.outputs = empty.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&request}), "");
  ASSERT_EQ(server_.Execute({&empty}), "");
  EXPECT_EQ(BytesElements(request.Answer().outputs.at("y").data),
            (std::vector<std::string>{nul, ""}));
  EXPECT_FALSE(empty.Answer().failed) << empty.Answer().message;
  EXPECT_EQ(empty.Answer().outputs.at("y").shape, (std::vector<int64_t>{1, 0}));
}

TEST_F(RunTest, TextsOfOneRequestDoNotReachIntoAnother) {
  ASSERT_EQ(LoadComplete("exclaim"), "");
  TRITONBACKEND_Request a, b, good;
  a.AddRaw("x", TRITONSERVER_TYPE_BYTES, {1, 1}, BytesTensor({"one", "two"}));
  b.AddRaw("x", TRITONSERVER_TYPE_BYTES, {2, 1}, BytesTensor({"three-and-more"}));
  good.AddRaw("x", TRITONSERVER_TYPE_BYTES, {1, 1}, BytesTensor({"g"}));
  a.outputs = b.outputs = good.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&a, &b, &good}), "");
  EXPECT_TRUE(a.Answer().failed);
  EXPECT_TRUE(b.Answer().failed);
  EXPECT_EQ(BytesElements(good.Answer().outputs.at("y").data), std::vector<std::string>{"g!"});
}

TEST_F(RunTest, OneBadRequestFailsAlone) {
  ASSERT_EQ(LoadComplete("gather"), "");
  TRITONBACKEND_Request good, bad, other;
  good.AddInput<int64_t>("index", TRITONSERVER_TYPE_INT64, {1, 1}, {2});
  bad.AddInput<int64_t>("index", TRITONSERVER_TYPE_INT64, {1, 1}, {9});
  other.AddInput<int64_t>("index", TRITONSERVER_TYPE_INT64, {1, 1}, {3});
  good.outputs = bad.outputs = other.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&good, &bad, &other}), "");
  EXPECT_EQ(good.Answer().outputs.at("y").As<float>(), (std::vector<float>{20, 21}));
  EXPECT_EQ(other.Answer().outputs.at("y").As<float>(), (std::vector<float>{30, 31}));
  EXPECT_THAT(bad.Answer().message, HasSubstr("onnx runtime error"));
  std::vector<uint64_t> executed;
  for (const auto& execution : server_.instance().statistics) {
    executed.push_back(execution.batch_size);
  }
  EXPECT_EQ(executed, (std::vector<uint64_t>{3, 1, 1, 1})) << "all together, then one by one";
  TRITONBACKEND_Request again;
  again.AddInput<int64_t>("index", TRITONSERVER_TYPE_INT64, {1, 1}, {0});
  again.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&again}), "");
  EXPECT_EQ(again.Answer().outputs.at("y").As<float>(), (std::vector<float>{0, 1}));
}

TEST_F(RunTest, ShapesThatDifferRunOneByOne) {
  ASSERT_EQ(LoadComplete("copy_fp32"), "");
  TRITONBACKEND_Request a, b;
  AddFloats(&a, "x", {1, 2}, {1, 2});
  AddFloats(&b, "x", {1, 3}, {3, 4, 5});
  a.outputs = b.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&a, &b}), "");
  EXPECT_EQ(a.Answer().outputs.at("y").As<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(b.Answer().outputs.at("y").As<float>(), (std::vector<float>{3, 4, 5}));
}

TEST_F(RunTest, StateComesAndGoesAsPlainTensors) {
  ASSERT_EQ(LoadComplete("accumulate"), "");
  TRITONBACKEND_Request request;
  AddFloats(&request, "x", {1, 4}, {1, 1, 1, 1});
  AddFloats(&request, "state", {1, 4}, {0, 1, 2, 3});
  request.outputs = {"new_state", "y"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(request.Answer().outputs.at("new_state").As<float>(), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(RunTest, SymbolsSizeTheOutput) {
  ASSERT_EQ(
      Load("transpose", Io(0, Tensor("x", "FP32", "[-1,-1]"), Tensor("y", "FP32", "[-1,-1]"))), "");
  TRITONBACKEND_Request request;
  AddFloats(&request, "x", {2, 3}, {1, 2, 3, 4, 5, 6});
  request.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(request.Answer().outputs.at("y").shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(request.Answer().outputs.at("y").As<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST_F(RunTest, OutputsSizedByValues) {
  ASSERT_EQ(Load("nonzero", Io(0, Tensor("x", "FP32", "[-1]"), Tensor("y", "INT64", "[1,-1]"))),
            "");
  TRITONBACKEND_Request some, none;
  AddFloats(&some, "x", {4}, {0, 5, 0, 6});
  AddFloats(&none, "x", {2}, {0, 0});
  some.outputs = none.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&some, &none}), "");  // without batching: one after the other
  EXPECT_EQ(some.Answer().outputs.at("y").As<int64_t>(), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(none.Answer().outputs.at("y").shape, (std::vector<int64_t>{1, 0}));
}

TEST_F(RunTest, AModelThatBreaksItsPromiseStillAnswers) {
  ASSERT_EQ(Load("promise", Io(0, Tensor("x", "FP32", "[-1]"), Tensor("y", "FP32", "[-1]"))), "");
  for (int turn = 0; turn < 2; ++turn) {
    TRITONBACKEND_Request request;
    AddFloats(&request, "x", {4}, {0, 5, 0, 6});
    request.outputs = {"y"};
    ASSERT_EQ(server_.Execute({&request}), "");
    EXPECT_EQ(request.Answer().outputs.at("y").As<float>(), (std::vector<float>{5, 6}))
        << request.Answer().message;
  }
}

TEST_F(RunTest, AModelThatBreaksBatchingFails) {
  ASSERT_EQ(LoadComplete("drop_rows"), "");
  TRITONBACKEND_Request a, b, alone;
  AddFloats(&a, "x", {1, 1}, {0});
  AddFloats(&b, "x", {1, 1}, {4});
  AddFloats(&alone, "x", {2, 1}, {0, 4});
  a.outputs = b.outputs = alone.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&a, &b}), "");
  ASSERT_EQ(server_.Execute({&alone}), "");
  EXPECT_THAT(a.Answer().message, HasSubstr("whose first dimension should be the batch size 1"));
  EXPECT_EQ(b.Answer().outputs.at("y").As<float>(), std::vector<float>{4});
  EXPECT_THAT(alone.Answer().message,
              HasSubstr("whose first dimension should be the batch size 2"));
}

TEST_F(RunTest, Scalars) {
  ASSERT_EQ(LoadComplete("scalar"), "");
  TRITONBACKEND_Request request, two;
  request.AddInput<int64_t>("x", TRITONSERVER_TYPE_INT64, {1}, {21});
  two.AddInput<int64_t>("x", TRITONSERVER_TYPE_INT64, {2}, {1, 2});
  request.outputs = two.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&request}), "");
  ASSERT_EQ(server_.Execute({&two}), "");
  EXPECT_EQ(request.Answer().outputs.at("y").shape, (std::vector<int64_t>{1}));
  EXPECT_EQ(request.Answer().outputs.at("y").As<int64_t>(), std::vector<int64_t>{42});
  EXPECT_THAT(two.Answer().message, HasSubstr("must hold one element"));
}

TEST_F(RunTest, TheConfigurationDecidesWhereTheModelDeclaresNoRank) {
  ASSERT_EQ(Load("any_rank", Io(0, Tensor("x", "FP32", "[-1,2]"), Tensor("y", "FP32", "[-1,2]"))),
            "");
  TRITONBACKEND_Request table;
  AddFloats(&table, "x", {3, 2}, {1, 2, 3, 4, 5, 6});
  table.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&table}), "");
  EXPECT_EQ(table.Answer().outputs.at("y").shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(table.Answer().outputs.at("y").As<float>(), (std::vector<float>{2, 4, 6, 8, 10, 12}));
}

TEST_F(RunTest, AModelThatDeclaresNoRankMayBatch) {
  ASSERT_EQ(Load("any_rank", Io(4, Tensor("x", "FP32", "[2]"), Tensor("y", "FP32", "[2]"))), "");
  TRITONBACKEND_Request a, b;
  AddFloats(&a, "x", {1, 2}, {1, 2});
  AddFloats(&b, "x", {2, 2}, {3, 4, 5, 6});
  a.outputs = b.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&a, &b}), "");
  EXPECT_EQ(a.Answer().outputs.at("y").As<float>(), (std::vector<float>{2, 4}));
  EXPECT_EQ(b.Answer().outputs.at("y").As<float>(), (std::vector<float>{6, 8, 10, 12}));
}

TEST_F(RunTest, RaggedInputsArePutTogether) {
  ASSERT_EQ(Load("ragged", Io(8,
                              Tensor("rows", "FP32", "[1]") + "," +
                                  Tensor("values", "FP32", "[-1]", R"(,"allow_ragged_batch":true)"),
                              Tensor("y", "FP32", "[1]"))),
            "");
  TRITONBACKEND_Request a, b;
  AddFloats(&a, "rows", {1, 1}, {100});
  AddFloats(&a, "values", {1, 2}, {1, 2});
  AddFloats(&b, "rows", {1, 1}, {200});
  AddFloats(&b, "values", {1, 3}, {3, 4, 5});
  a.outputs = b.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&a, &b}), "");
  EXPECT_EQ(a.Answer().outputs.at("y").As<float>(), std::vector<float>{115});
  EXPECT_EQ(b.Answer().outputs.at("y").As<float>(), std::vector<float>{215});
}

TEST_F(RunTest, AnInputWithADefaultMayBeLeftOut) {
  ASSERT_EQ(Load("with_default", Io(0,
                                    Tensor("x", "FP32", "[-1,4]") + "," +
                                        Tensor("bias", "FP32", "[4]", R"(,"optional":true)"),
                                    Tensor("y", "FP32", "[-1,4]"))),
            "");
  TRITONBACKEND_Request without, with;
  AddFloats(&without, "x", {1, 4}, {0, 0, 0, 0});
  AddFloats(&with, "x", {1, 4}, {0, 0, 0, 0});
  AddFloats(&with, "bias", {4}, {9, 9, 9, 9});
  without.outputs = with.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&without}), "");
  ASSERT_EQ(server_.Execute({&with}), "");
  EXPECT_EQ(without.Answer().outputs.at("y").As<float>(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(with.Answer().outputs.at("y").As<float>(), (std::vector<float>{9, 9, 9, 9}));
}

TEST_F(RunTest, DefaultsInABatch) {
  ASSERT_EQ(Load("default_row", Io(8,
                                   Tensor("x", "FP32", "[4]") + "," +
                                       Tensor("bias", "FP32", "[4]", R"(,"optional":true)"),
                                   Tensor("y", "FP32", "[4]"))),
            "");
  TRITONBACKEND_Request a, b, with;
  AddFloats(&a, "x", {1, 4}, {0, 0, 0, 0});
  AddFloats(&b, "x", {2, 4}, {10, 0, 0, 0, 20, 0, 0, 0});
  AddFloats(&with, "x", {1, 4}, {0, 0, 0, 0});
  AddFloats(&with, "bias", {1, 4}, {9, 9, 9, 9});
  a.outputs = b.outputs = with.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&a, &b, &with}), "");  // a batch that Triton would not make
  EXPECT_EQ(a.Answer().outputs.at("y").As<float>(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(b.Answer().outputs.at("y").As<float>(), (std::vector<float>{11, 2, 3, 4, 21, 2, 3, 4}));
  EXPECT_EQ(with.Answer().outputs.at("y").As<float>(), (std::vector<float>{9, 9, 9, 9}));
}

TEST_F(RunTest, AnOptionalInputWithoutADefault) {
  ASSERT_EQ(Load("mlp", Io(8, Tensor("x", "FP32", "[64]", R"(,"optional":true)"),
                           Tensor("y", "FP32", "[10]"))),
            "");
  TRITONBACKEND_Request without, with;
  AddFloats(&with, "x", {1, 64}, Ramp(64, 0));
  with.outputs = without.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&without, &with}), "");
  EXPECT_EQ(without.Answer().message,
            "the request lacks the input 'x', for which model 'mlp' has no default");
  EXPECT_EQ(without.Answer().code, TRITONSERVER_ERROR_INVALID_ARG);
  EXPECT_FALSE(with.Answer().failed);
}

TEST_F(RunTest, AnInputOfOnnxsOptionalTypeTakesATensor) {
  ASSERT_EQ(LoadComplete("maybe"), "");
  TRITONBACKEND_Request request;
  AddFloats(&request, "x", {1, 4}, {1, 2, 3, 4});
  request.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(request.Answer().outputs.at("y").As<float>(), (std::vector<float>{1, 2, 3, 4}))
      << request.Answer().message;
}

TEST_F(RunTest, ReshapeToScalarsInABatch) {
  ASSERT_EQ(Load("double", Io(8, Tensor("x", "FP32", "[1]", R"(,"reshape":{"shape":[]})"),
                              Tensor("y", "FP32", "[1]", R"(,"reshape":{"shape":[]})"))),
            "");
  TRITONBACKEND_Request a, b;
  AddFloats(&a, "x", {1}, {1});
  AddFloats(&b, "x", {2}, {2, 3});
  a.outputs = b.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&a, &b}), "");
  EXPECT_EQ(b.Answer().outputs.at("y").As<float>(), (std::vector<float>{4, 6}));
  EXPECT_EQ(b.Answer().outputs.at("y").shape, std::vector<int64_t>{2});
}

TEST_F(RunTest, WrongRequestsGetErrorsAndHurtNobody) {
  ASSERT_EQ(LoadComplete("mlp"), "");
  TRITONBACKEND_Request missing, type, width, flat, negative, size, output, gone, good;
  AddFloats(&missing, "z", {1, 64}, Ramp(64, 0));
  type.AddInput<int32_t>("x", TRITONSERVER_TYPE_INT32, {1, 1}, {1});
  AddFloats(&width, "x", {1, 63}, Ramp(63, 0));
  AddFloats(&flat, "x", {}, {1});
  AddFloats(&negative, "x", {-1, 64}, Ramp(64, 0));
  AddFloats(&size, "x", {1, 64}, Ramp(63, 0));
  for (auto* request : {&output, &gone, &good}) {
    AddFloats(request, "x", {1, 64}, Ramp(64, 0));
  }
  const std::vector<TRITONBACKEND_Request*> all = {&missing, &type, &width,  &flat, &negative,
                                                   &size,    &good, &output, &gone};
  for (auto* request : all) {
    request->outputs = {"y"};
  }
  output.outputs = {"nothing"};
  gone.cancelled = true;
  ASSERT_EQ(server_.Execute(all), "");
  for (auto* request : all) {
    EXPECT_EQ(request->Answer().failed, request != &good) << request->Answer().message;
  }
  EXPECT_THAT(missing.Answer().message,
              HasSubstr("the request lacks the input 'x', for which model 'mlp' has no default"));
  EXPECT_THAT(width.Answer().message, HasSubstr("onnx runtime error 2"));
  EXPECT_EQ(width.Answer().code, TRITONSERVER_ERROR_INVALID_ARG);
  EXPECT_EQ(gone.Answer().code, TRITONSERVER_ERROR_CANCELLED);
  EXPECT_EQ(good.Answer().outputs.at("y").shape, (std::vector<int64_t>{1, 10}));
}

TEST_F(RunTest, OutputBuffersThatCannotBeHad) {
  ASSERT_EQ(LoadComplete("mlp"), "");
  TRITONBACKEND_Request alone, a, b;
  for (auto* request : {&alone, &a, &b}) {
    AddFloats(request, "x", {1, 64}, Ramp(64, 0));
    request->outputs = {"y"};
  }
  Faults().output_buffer_fails = true;
  ASSERT_EQ(server_.Execute({&alone}), "");
  ASSERT_EQ(server_.Execute({&a, &b}), "");
  for (auto* request : {&alone, &a, &b}) {
    EXPECT_EQ(request->Answer().message, "no buffer today");
  }
}

TEST_F(RunTest, OutputBuffersThatAreMisaligned) {
  ASSERT_EQ(LoadComplete("copy_fp32"), "");
  Faults().output_buffer_is_misaligned = true;
  TRITONBACKEND_Request alone, a, b;
  for (auto* request : {&alone, &a, &b}) {
    AddFloats(request, "x", {1, 2}, {5, 6});
    request->outputs = {"y"};
  }
  ASSERT_EQ(server_.Execute({&alone}), "");
  ASSERT_EQ(server_.Execute({&a, &b}), "");
  for (auto* request : {&alone, &a, &b}) {
    EXPECT_EQ(request->Answer().outputs.at("y").As<float>(), (std::vector<float>{5, 6}));
  }
}

TEST_F(RunTest, InputsInPiecesAndMisaligned) {
  ASSERT_EQ(LoadComplete("copy_fp32"), "");
  TRITONBACKEND_Request pieces, misaligned;
  AddFloats(&pieces, "x", {1, 2}, {1, 2});
  auto& split = pieces.inputs[0].pieces;
  split = {{split[0].begin(), split[0].begin() + 5}, {split[0].begin() + 5, split[0].end()}};
  AddFloats(&misaligned, "x", {1, 2}, {3, 4});
  misaligned.inputs[0].pieces[0].insert(misaligned.inputs[0].pieces[0].begin(), '\0');
  misaligned.inputs[0].offset = 1;
  pieces.outputs = misaligned.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&pieces}), "");
  ASSERT_EQ(server_.Execute({&misaligned}), "");
  EXPECT_EQ(pieces.Answer().outputs.at("y").As<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(misaligned.Answer().outputs.at("y").As<float>(), (std::vector<float>{3, 4}));
}

}  // namespace
}  // namespace nereid::onnxruntime
