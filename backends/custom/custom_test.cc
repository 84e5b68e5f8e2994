// SPDX-License-Identifier: Apache-2.0
// What a custom library is given and what becomes of what it gives.
#include "custom/fixture.h"
#include "model_config.pb.h"

namespace nereid::custom::testing {
namespace {

using backend::testing::BytesElements;
using backend::testing::BytesTensor;
using backend::testing::Faults;

class EchoTest : public CustomTest {
 protected:
  std::string LoadEcho(const std::string& type, const std::string& dims, int max_batch_size = 8) {
    return Load("echo", Tensor("INPUT0", type, dims), Tensor("OUTPUT0", type, dims),
                max_batch_size == 0 ? R"(,"parameters":{"unbatched":{"string_value":"1"}})" : "",
                max_batch_size);
  }
};

TEST_F(EchoTest, RequestsOfABatchAreOnePayloadEach) {
  ASSERT_EQ(LoadEcho("TYPE_FP32", "-1"), "");
  TRITONBACKEND_Request a, b;
  a.AddInput<float>("INPUT0", TRITONSERVER_TYPE_FP32, {1, 2}, {1, 2});
  b.AddInput<float>("INPUT0", TRITONSERVER_TYPE_FP32, {2, 3}, {3, 4, 5, 6, 7, 8});  // ragged
  a.outputs = b.outputs = {"OUTPUT0"};
  ASSERT_EQ(server_.Execute({&a, &b}), "");
  EXPECT_EQ(a.Answer().outputs.at("OUTPUT0").As<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(b.Answer().outputs.at("OUTPUT0").As<float>(), (std::vector<float>{3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(b.Answer().outputs.at("OUTPUT0").shape, (std::vector<int64_t>{2, 3}));
  ASSERT_EQ(server_.instance().statistics.size(), 1u);
  EXPECT_EQ(server_.instance().statistics[0].batch_size, 3u);
}

TEST_F(EchoTest, TextsInPieces) {
  ASSERT_EQ(LoadEcho("TYPE_STRING", "-1", 0), "");
  const std::vector<std::string> texts = {"one", "", std::string("\0\xff", 2)};
  TRITONBACKEND_Request request;
  auto& input = request.AddRaw("INPUT0", TRITONSERVER_TYPE_BYTES, {3}, BytesTensor(texts));
  const std::vector<char> whole = input.pieces[0];
  input.pieces = {{whole.begin(), whole.begin() + 2}, {}, {whole.begin() + 2, whole.end()}};
  request.outputs = {"OUTPUT0"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(BytesElements(request.Answer().outputs.at("OUTPUT0").data), texts);
}

TEST_F(EchoTest, NoElementsAndNoWantedOutputs) {
  ASSERT_EQ(LoadEcho("TYPE_INT64", "-1"), "");
  TRITONBACKEND_Request empty, unwanted;
  empty.AddInput<int64_t>("INPUT0", TRITONSERVER_TYPE_INT64, {1, 0}, {});
  unwanted.AddInput<int64_t>("INPUT0", TRITONSERVER_TYPE_INT64, {1, 1}, {1});
  empty.outputs = {"OUTPUT0"};
  ASSERT_EQ(server_.Execute({&empty, &unwanted}), "");
  EXPECT_EQ(empty.Answer().outputs.at("OUTPUT0").shape, (std::vector<int64_t>{1, 0}));
  EXPECT_TRUE(unwanted.Answer().outputs.empty());
  EXPECT_FALSE(unwanted.Answer().failed);
}

TEST_F(EchoTest, BadRequestsFailAlone) {
  ASSERT_EQ(
      Load("echo", Tensor("INPUT0", "TYPE_INT8", "-1") + "," + Tensor("INPUT1", "TYPE_INT8", "-1"),
           Tensor("OUTPUT0", "TYPE_INT8", "-1")),
      "");
  TRITONBACKEND_Request good, no_batch, two_batches, wrong_size, cancelled;
  good.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 1}, {5});
  no_batch.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {}, {5});
  two_batches.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 1}, {5});
  two_batches.AddInput<int8_t>("INPUT1", TRITONSERVER_TYPE_INT8, {2, 1}, {5, 6});
  wrong_size.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 2}, {5});
  cancelled.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 1}, {5});
  cancelled.cancelled = true;
  for (auto* request : {&good, &no_batch, &two_batches, &wrong_size, &cancelled}) {
    request->outputs = {"OUTPUT0"};
  }
  ASSERT_EQ(server_.Execute({&no_batch, &good, &two_batches, &wrong_size, &cancelled}), "");
  EXPECT_FALSE(good.Answer().failed);
  EXPECT_EQ(no_batch.Answer().message,
            "input 'INPUT0' has the shape [], which does not begin with a batch size");
  EXPECT_EQ(two_batches.Answer().message,
            "input 'INPUT1' has the batch size 2, other inputs of the request 1");
  EXPECT_EQ(wrong_size.Answer().code, TRITONSERVER_ERROR_INVALID_ARG);
  EXPECT_EQ(cancelled.Answer().code, TRITONSERVER_ERROR_CANCELLED);
  ASSERT_EQ(server_.instance().statistics.size(), 1u);
  EXPECT_EQ(server_.instance().statistics[0].batch_size, 1u);
}

TEST_F(EchoTest, MemoryTypesOfVersionTwo) {
  ASSERT_EQ(LoadEcho("TYPE_INT8", "-1"), "");
  TRITONBACKEND_Request gpu_in, gpu_out;
  gpu_in.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 1}, {5}).memory_type =
      TRITONSERVER_MEMORY_GPU;
  gpu_out.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 1}, {5});
  gpu_in.outputs = gpu_out.outputs = {"OUTPUT0"};
  Faults().output_buffer_is_gpu = true;
  ASSERT_EQ(server_.Execute({&gpu_in, &gpu_out}), "");
  for (const auto* request : {&gpu_in, &gpu_out}) {
    EXPECT_EQ(request->Answer().message, "model 'm': CustomExecuteV2 of '" + LibraryPath() +
                                             "' failed with code 3 (a tensor is in GPU memory)");
  }
}

TEST_F(EchoTest, NoOutputBuffer) {
  ASSERT_EQ(LoadEcho("TYPE_INT8", "-1"), "");
  TRITONBACKEND_Request request;
  request.AddInput<int8_t>("INPUT0", TRITONSERVER_TYPE_INT8, {1, 1}, {5});
  request.outputs = {"OUTPUT0"};
  Faults().output_buffer_fails = true;
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_TRUE(request.Answer().failed);
}

TEST_F(CustomTest, WhatCustomInitializeIsGiven) {
  ASSERT_EQ(Load("params", Tensor("INPUT", "TYPE_INT8", "1"), Tensor("OUTPUT", "TYPE_STRING", "-1"),
                 R"(,"parameters":{"speed":{"string_value":"high"}},"a_new_field":[1],)"
                 R"("version_policy":{"specific":{"versions":["3"]}})",
                 0),
            "");
  TRITONBACKEND_Request request;
  request.AddInput<int8_t>("INPUT", TRITONSERVER_TYPE_INT8, {1}, {5});
  request.outputs = {"OUTPUT"};
  ASSERT_EQ(server_.Execute({&request}), "");
  const auto texts = BytesElements(request.Answer().outputs.at("OUTPUT").data);
  ASSERT_EQ(texts.size(), 5u);
  EXPECT_EQ(texts[0], "m_0");
  EXPECT_EQ(texts[1], "-1");
  EXPECT_EQ(texts[2], "1.2.3");
  EXPECT_EQ(texts[3], repository_.string());
  inference::ModelConfig config;
  ASSERT_TRUE(config.ParseFromString(texts[4]));
  EXPECT_EQ(config.name(), "m");
  EXPECT_EQ(config.platform(), "custom");
  EXPECT_EQ(config.output(0).data_type(), inference::TYPE_STRING);
  EXPECT_EQ(config.parameters().at("speed").string_value(), "high");
  EXPECT_EQ(config.version_policy().specific().versions(0), 3);
}

TEST_F(CustomTest, AnInstanceOnAGpuIsToldItsDevice) {
  server_.instance().kind = TRITONSERVER_INSTANCEGROUPKIND_GPU;
  server_.instance().device_id = 2;
  ASSERT_EQ(Load("params", Tensor("INPUT", "TYPE_INT8", "1"), Tensor("OUTPUT", "TYPE_STRING", "-1"),
                 "", 0),
            "");
  TRITONBACKEND_Request request;
  request.AddInput<int8_t>("INPUT", TRITONSERVER_TYPE_INT8, {1}, {5});
  request.outputs = {"OUTPUT"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(BytesElements(request.Answer().outputs.at("OUTPUT").data).at(1), "2");
}

TEST_F(CustomTest, AVersionOneLibraryGetsNoGpuMemory) {
  ASSERT_EQ(
      Load("faulty", Tensor("INPUT0", "TYPE_INT32", "1"), Tensor("OUTPUT0", "TYPE_INT32", "1")),
      "");
  TRITONBACKEND_Request in, out;
  in.AddInput<int32_t>("INPUT0", TRITONSERVER_TYPE_INT32, {1, 1}, {0}).memory_type =
      TRITONSERVER_MEMORY_GPU;
  out.AddInput<int32_t>("INPUT0", TRITONSERVER_TYPE_INT32, {1, 1}, {0});
  in.outputs = out.outputs = {"OUTPUT0"};
  ASSERT_EQ(server_.Execute({&in}), "");
  EXPECT_EQ(in.Answer().message,
            "input 'INPUT0' is in GPU memory, which a custom library of version 1 cannot read");
  Faults().output_buffer_is_gpu = true;
  ASSERT_EQ(server_.Execute({&out}), "");
  EXPECT_EQ(out.Answer().message,
            "output 'OUTPUT0' is wanted in GPU memory; this backend writes CPU memory");
}

}  // namespace
}  // namespace nereid::custom::testing
