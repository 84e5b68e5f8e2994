// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

#include "nereid/backend/batch.h"
#include "nereid/backend/bytes_tensor.h"
#include "nereid/backend/input.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/output.h"
#include "nereid/backend/state.h"
#include "testing/fake_server.h"

namespace nereid::backend {
namespace {

using testing::BytesTensor;
using testing::Faults;

class KitTest : public ::testing::Test {
 protected:
  void SetUp() override { Faults() = {}; }
  void TearDown() override {
    EXPECT_EQ(testing::LiveErrors(), 0);
    EXPECT_EQ(testing::LiveMessages(), 0);
    EXPECT_EQ(testing::LiveResponses(), 0);
  }

  TRITONBACKEND_ModelInstance instance_;
  std::vector<BatchMember> members_;
};

TEST_F(KitTest, ExceptionsBecomeErrors) {
  EXPECT_EQ(Catching([]() -> Error { throw std::runtime_error("boom"); }).message(), "boom");
  EXPECT_EQ(Catching([]() -> Error { throw std::bad_alloc(); }).message(), "out of memory");
  EXPECT_FALSE(Catching([]() -> Error { throw 3; }).ok());
  EXPECT_TRUE(Catching([]() -> Error { return {}; }).ok());
}

TEST_F(KitTest, EveryRequestIsCountedAnsweredAndReleasedOnce) {
  TRITONBACKEND_Request good;
  TRITONBACKEND_Request bad;
  TRITONBACKEND_Request* requests[] = {&good, &bad};
  {
    Batch batch(&instance_, requests, 2, &members_);
    batch[0].batch_size = 3;
    batch.Fail(1, Error::InvalidArgument("first"));
    batch.Fail(1, Error::Internal("second"));
    batch.ComputeStarts();
    batch.ComputeEnds();
  }
  EXPECT_FALSE(good.Answer().failed);
  EXPECT_TRUE(bad.Answer().failed);
  EXPECT_EQ(bad.Answer().message, "first");
  EXPECT_EQ(bad.Answer().code, TRITONSERVER_ERROR_INVALID_ARG);
  ASSERT_EQ(instance_.statistics.size(), 1u);
  EXPECT_EQ(instance_.statistics[0].batch_size, 3u);
  const auto& times = good.statistics[0];
  EXPECT_LE(times.exec_start_ns, times.compute_start_ns);
  EXPECT_LE(times.compute_start_ns, times.compute_end_ns);
  EXPECT_LE(times.compute_end_ns, times.exec_end_ns);
}

TEST_F(KitTest, AnExceptionInTheMiddleStillAnswersAll) {
  TRITONBACKEND_Request a;
  TRITONBACKEND_Request b;
  TRITONBACKEND_Request* requests[] = {&a, &b};
  const Error error = Catching([&]() -> Error {
    Batch batch(&instance_, requests, 2, &members_);
    batch.FailAll(Error::Internal("the rest"));
    throw std::runtime_error("lost");
  });
  EXPECT_FALSE(error.ok());
  EXPECT_EQ(a.Answer().message, "the rest");
  EXPECT_EQ(b.Answer().message, "the rest");
  EXPECT_TRUE(instance_.statistics.empty());
}

TEST_F(KitTest, ARequestWithoutAResponseIsReleased) {
  Faults().response_new_fails = true;
  TRITONBACKEND_Request request;
  TRITONBACKEND_Request* requests[] = {&request};
  {
    Batch batch(&instance_, requests, 1, &members_);
    EXPECT_TRUE(batch.failed(0));
  }
  EXPECT_EQ(request.releases, 1);
  ASSERT_EQ(request.statistics.size(), 1u);
  EXPECT_FALSE(request.statistics[0].success);
}

TEST_F(KitTest, CancelledRequestsFail) {
  TRITONBACKEND_Request request;
  request.cancelled = true;
  TRITONBACKEND_Request* requests[] = {&request};
  {
    Batch batch(&instance_, requests, 1, &members_);
    EXPECT_FALSE(batch.FailCancelled());
    EXPECT_EQ(request.Answer().code, TRITONSERVER_ERROR_CANCELLED);  // before the Batch ends
    EXPECT_TRUE(batch.failed(0));
    EXPECT_FALSE(batch.FailCancelled());
  }
  EXPECT_EQ(request.answers.size(), 1u);
}

TEST_F(KitTest, CancelledRequestsAreAnsweredBeforeTheOthers) {
  TRITONBACKEND_Request gone, failed, stays;
  gone.cancelled = failed.cancelled = true;
  TRITONBACKEND_Request* requests[] = {&gone, &failed, &stays};
  {
    Batch batch(&instance_, requests, 3, &members_);
    batch.Fail(1, Error::Internal("first"));
    EXPECT_TRUE(batch.FailCancelled());
    EXPECT_EQ(gone.answers.size(), 1u);
    EXPECT_EQ(failed.answers.size(), 0u);
    EXPECT_EQ(stays.answers.size(), 0u);
  }
  EXPECT_EQ(gone.Answer().code, TRITONSERVER_ERROR_CANCELLED);
  EXPECT_EQ(failed.Answer().message, "first");
  EXPECT_FALSE(stays.Answer().failed);
}

Input Find(TRITONBACKEND_Request* request, const char* name) {
  Input input;
  Error error = FindInput(request, name, &input);
  EXPECT_TRUE(error.ok()) << error.message();
  return input;
}

TEST_F(KitTest, ALoneAlignedInputIsBorrowed) {
  TRITONBACKEND_Request request;
  auto& fake = request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {2}, {1, 2});
  const Input input = Find(&request, "x");
  AlignedBuffer scratch;
  Gathered gathered;
  ASSERT_TRUE(GatherInputs({&input, 1}, 4, &scratch, &gathered).ok());
  EXPECT_TRUE(gathered.borrowed);
  EXPECT_EQ(gathered.data, fake.pieces[0].data());
  EXPECT_EQ(scratch.capacity(), 0u);
}

TEST_F(KitTest, AMisalignedInputIsCopied) {
  TRITONBACKEND_Request request;
  auto& fake = request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {2}, {1, 2});
  fake.pieces[0].insert(fake.pieces[0].begin(), '\0');
  fake.offset = 1;
  const Input input = Find(&request, "x");
  AlignedBuffer scratch;
  Gathered gathered;
  ASSERT_TRUE(GatherInputs({&input, 1}, 4, &scratch, &gathered).ok());
  EXPECT_FALSE(gathered.borrowed);
  EXPECT_EQ(reinterpret_cast<const float*>(gathered.data)[1], 2.0f);
}

TEST_F(KitTest, PiecesAndRequestsAreConcatenated) {
  TRITONBACKEND_Request a;
  TRITONBACKEND_Request b;
  auto& split = a.AddInput<int32_t>("x", TRITONSERVER_TYPE_INT32, {1, 2}, {1, 2});
  split.pieces = {{split.pieces[0].begin(), split.pieces[0].begin() + 3},
                  {},
                  {split.pieces[0].begin() + 3, split.pieces[0].end()}};
  b.AddInput<int32_t>("x", TRITONSERVER_TYPE_INT32, {1, 2}, {3, 4});
  const Input inputs[] = {Find(&a, "x"), Find(&b, "x")};
  AlignedBuffer scratch;
  Gathered gathered;
  ASSERT_TRUE(GatherInputs(inputs, 4, &scratch, &gathered).ok());
  ASSERT_EQ(gathered.size, 16u);
  const auto* values = reinterpret_cast<const int32_t*>(gathered.data);
  EXPECT_EQ(std::vector<int32_t>(values, values + 4), (std::vector<int32_t>{1, 2, 3, 4}));
}

TEST_F(KitTest, InputsThatMayBeAbsent) {
  TRITONBACKEND_Request request;
  request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {2}, {1, 2});
  Input input = Find(&request, "x");
  ASSERT_TRUE(FindOptionalInput(&request, "y", &input).ok());
  EXPECT_EQ(input.handle, nullptr);
  ASSERT_TRUE(FindOptionalInput(&request, "x", &input).ok());
  EXPECT_EQ(input.byte_size, 8u);
}

TEST_F(KitTest, KindsOfMemoryOfTheHostMix) {
  TRITONBACKEND_Request a, b;
  a.AddInput<int32_t>("x", TRITONSERVER_TYPE_INT32, {1, 1}, {1});
  b.AddInput<int32_t>("x", TRITONSERVER_TYPE_INT32, {1, 1}, {2}).memory_type =
      TRITONSERVER_MEMORY_CPU_PINNED;
  const Input inputs[] = {Find(&a, "x"), Find(&b, "x")};
  AlignedBuffer scratch;
  Gathered gathered;
  ASSERT_TRUE(GatherInputs(inputs, 4, &scratch, &gathered).ok());
  EXPECT_EQ(reinterpret_cast<const int32_t*>(gathered.data)[1], 2);
  b.inputs[0].memory_type = TRITONSERVER_MEMORY_GPU;
  EXPECT_EQ(GatherInputs(inputs, 4, &scratch, &gathered).message(),
            "input 'x' is in GPU memory; this backend reads CPU memory");
}

TEST_F(KitTest, SizesThatLieAreRefused) {
  TRITONBACKEND_Request request;
  auto& fake = request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {2}, {1, 2});
  fake.byte_size = 4;
  AlignedBuffer scratch;
  Gathered gathered;
  Input input = Find(&request, "x");
  EXPECT_FALSE(GatherInputs({&input, 1}, 4, &scratch, &gathered).ok());
  fake.byte_size = 400;
  input = Find(&request, "x");
  EXPECT_FALSE(GatherInputs({&input, 1}, 4, &scratch, &gathered).ok());
  EXPECT_FALSE(CheckInputSize(input).ok());
  fake.memory_type = TRITONSERVER_MEMORY_GPU;
  EXPECT_FALSE(GatherInputs({&input, 1}, 4, &scratch, &gathered).ok());
}

TEST_F(KitTest, ImpossibleShapesAreRefused) {
  TRITONBACKEND_Request request;
  auto& fake = request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {2}, {1, 2});
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{-1}, {INT64_MAX, 2}, {INT64_MAX}, {3}, {}}) {
    fake.shape = shape;
    EXPECT_FALSE(CheckInputSize(Find(&request, "x")).ok()) << ShapeText(shape);
  }
  fake.shape = {1, 2};
  EXPECT_TRUE(CheckInputSize(Find(&request, "x")).ok());
  request.AddRaw("s", TRITONSERVER_TYPE_BYTES, {INT64_MAX}, "\0\0\0\0");
  EXPECT_FALSE(CheckInputSize(Find(&request, "s")).ok());
}

TEST_F(KitTest, BytesElements) {
  const std::string data = BytesTensor({"a", "", std::string("b\0c", 3)});
  std::vector<std::string> seen;
  const auto visit = [&](int64_t, std::string_view element) { seen.emplace_back(element); };
  ASSERT_TRUE(ForEachBytesElement(data.data(), data.size(), 3, "s", visit).ok());
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "", std::string("b\0c", 3)}));
  EXPECT_FALSE(ForEachBytesElement(data.data(), data.size(), 2, "s", visit).ok());
  EXPECT_FALSE(ForEachBytesElement(data.data(), data.size(), 4, "s", visit).ok());
  EXPECT_FALSE(ForEachBytesElement(data.data(), data.size() - 1, 3, "s", visit).ok());
  std::string written(4 + 2, '\0');
  EXPECT_EQ(WriteBytesElement("hi", written.data()), written.data() + 6);
  EXPECT_EQ(written, BytesTensor({"hi"}));
}

TEST_F(KitTest, ScratchKeepsMemoryUpToALimit) {
  AlignedBuffer scratch;
  char* first = scratch.Reserve(100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % AlignedBuffer::kAlignment, 0u);
  EXPECT_EQ(scratch.Reserve(50), first);
  EXPECT_NE(AlignedBuffer().Reserve(0), nullptr);
  scratch.Reserve(AlignedBuffer::kKept + 1);
  scratch.Trim();
  EXPECT_EQ(scratch.capacity(), 0u);
  EXPECT_THROW(scratch.Reserve(SIZE_MAX), std::bad_alloc);
}

TEST_F(KitTest, ConfigIsRead) {
  TRITONBACKEND_Model model;
  model.directory = "/models/m";
  model.version = 7;
  model.config = R"({"name":"m","max_batch_size":4,"default_model_filename":"a.onnx",
    "input":[{"name":"x","data_type":"TYPE_STRING","dims":[2,"-1"],"reshape":{"shape":[]},
              "allow_ragged_batch":true,"optional":true}],
    "output":[{"name":"y","data_type":"TYPE_BF16","dims":[3]}],
    "batch_input":[{"kind":"BATCH_ITEM_SHAPE","target_name":["s","t"],"data_type":"TYPE_FP32",
                    "source_input":["x"]},{"source_input":[]},{"kind":"BATCH_NEW"}],
    "batch_output":[{"target_name":["y"],"kind":"BATCH_SCATTER_WITH_INPUT_SHAPE",
                     "source_input":["x"]}],
    "cc_model_filenames":{"7.5":"b.onnx"},"dynamic_batching":{},
    "instance_group":[{"count":2},{"count":1}],
    "optimization":{"graph":{"level":-1},"priority":"PRIORITY_MAX","cuda":{"graphs":true},
      "input_pinned_memory":{"enable":true},"eager_batching":false,"execution_accelerators":{
      "cpu_execution_accelerator":[{"name":"openvino","parameters":{"device_type":"CPU"}}],
      "gpu_execution_accelerator":[]}},
    "sequence_batching":{"control_input":[{"name":"START"}],"state":[{}]},
    "model_operations":{"op_library_filename":["ops.so"]},
    "parameters":{"k":{"string_value":"12"},"flag":{"string_value":"maybe"}}})";
  ModelConfig config;
  ASSERT_TRUE(ReadModelConfig(&model, &config).ok());
  EXPECT_EQ(config.name, "m");
  EXPECT_EQ(config.version, 7u);
  EXPECT_EQ(config.directory, "/models/m");
  EXPECT_EQ(config.max_batch_size, 4);
  ASSERT_EQ(config.inputs.size(), 1u);
  EXPECT_EQ(config.inputs[0].data_type, TRITONSERVER_TYPE_BYTES);
  EXPECT_EQ(config.inputs[0].dims, (std::vector<int64_t>{2, -1}));
  EXPECT_TRUE(config.inputs[0].ModelDims().empty());
  EXPECT_TRUE(config.inputs[0].allow_ragged_batch);
  EXPECT_TRUE(config.inputs[0].optional);
  EXPECT_EQ(config.outputs[0].data_type, TRITONSERVER_TYPE_BF16);
  ASSERT_EQ(config.batch_inputs.size(), 3u);
  EXPECT_EQ(config.batch_inputs[0].kind, BatchInputKind::kItemShape);
  EXPECT_EQ(config.batch_inputs[0].targets, (std::vector<std::string>{"s", "t"}));
  EXPECT_EQ(config.batch_inputs[0].data_type, TRITONSERVER_TYPE_FP32);
  EXPECT_EQ(config.batch_inputs[0].source, "x");
  EXPECT_EQ(config.batch_inputs[1].kind, BatchInputKind::kElementCount);
  EXPECT_EQ(config.batch_inputs[1].source, "");
  EXPECT_EQ(config.batch_inputs[2].kind, BatchInputKind::kUnknown);
  ASSERT_EQ(config.batch_outputs.size(), 1u);
  EXPECT_EQ(config.batch_outputs[0].targets, std::vector<std::string>{"y"});
  EXPECT_EQ(config.batch_outputs[0].source, "x");
  EXPECT_EQ(config.gpu_settings,
            (std::vector<std::string>{"optimization.priority", "optimization.cuda",
                                      "cc_model_filenames"}));
  EXPECT_EQ(config.instance_count, 3);
  EXPECT_EQ(config.graph_level, -1);
  ASSERT_EQ(config.cpu_accelerators.size(), 1u);
  EXPECT_EQ(config.cpu_accelerators[0].name, "openvino");
  EXPECT_EQ(config.cpu_accelerators[0].parameters.at("device_type"), "CPU");
  ASSERT_EQ(config.controls.size(), 1u);
  EXPECT_EQ(config.controls[0].name, "START");
  ASSERT_EQ(config.states.size(), 1u);
  EXPECT_EQ(config.op_libraries, std::vector<std::string>{"ops.so"});
  EXPECT_TRUE(config.has_dynamic_batching);
  int64_t number = 0;
  EXPECT_TRUE(config.parameters.ReadInt("k", 0, 20, &number).ok());
  EXPECT_EQ(number, 12);
  EXPECT_FALSE(config.parameters.ReadInt("k", 0, 11, &number).ok());
  EXPECT_TRUE(config.parameters.ReadInt("absent", 0, 11, &number).ok());
  bool flag = false;
  EXPECT_EQ(config.parameters.ReadBool("flag", &flag).message(),
            "model 'm': parameter 'flag' is 'maybe', but must be true, false, 1 or 0");
}

TEST_F(KitTest, ConfigThatIsNoObjectIsRefused) {
  TRITONBACKEND_Model model;
  for (const char* text : {"", "[]", "{\"a\":", "3"}) {
    model.config = text;
    ModelConfig config;
    EXPECT_FALSE(ReadModelConfig(&model, &config).ok()) << text;
  }
}

TEST_F(KitTest, BackendSettings) {
  TRITONBACKEND_Backend backend;
  backend.config = R"({"cmdline":{"default-max-batch-size":"9"}})";
  Parameters settings;
  ASSERT_TRUE(ReadBackendConfig(&backend, &settings).ok());
  EXPECT_EQ(*settings.Find("default-max-batch-size"), "9");
}

/// The plug-in of kit_plugin.cc fails where its configuration says so.
TEST_F(KitTest, LoadsThatFail) {
  const auto load = [](const std::string& parameter) {
    testing::FakeServer server;
    server.model().config =
        R"({"name":"m","parameters":{")" + parameter + R"(":{"string_value":"no"}}})";
    return server.Load();
  };
  EXPECT_EQ(load("nothing"), "");
  EXPECT_EQ(load("model"), "no");
  EXPECT_EQ(load("model_throws"), "no");
  EXPECT_EQ(load("instance"), "no");
}

TEST_F(KitTest, AnExceptionBeforeTheBatchLeavesTheRequestsToTheServer) {
  testing::FakeServer server;
  server.model().config = R"({"name":"m"})";
  ASSERT_EQ(server.Load(), "");
  TRITONBACKEND_Request request;
  EXPECT_EQ(server.Execute({&request}), "Execute threw");
  EXPECT_EQ(request.releases, 0);
}

TEST_F(KitTest, AnInstanceThatWasNotInitialised) {
  TRITONBACKEND_Request request;
  TRITONBACKEND_Request* requests[] = {&request};
  const Error error(TRITONBACKEND_ModelInstanceExecute(&instance_, requests, 1));
  EXPECT_EQ(error.message(), "the plug-in was not initialized");
}

TEST_F(KitTest, OutputsThatCannotBeHad) {
  TRITONBACKEND_Request request;
  TRITONBACKEND_Response* response = nullptr;
  ASSERT_TRUE(Error(TRITONBACKEND_ResponseNew(&response, &request)).ok());
  const int64_t shape[] = {1};
  Faults().output_buffer_fails = true;
  EXPECT_FALSE(WriteOutput(response, "a", TRITONSERVER_TYPE_INT8, shape, "x", 1).ok());
  Faults() = {};
  Faults().output_buffer_is_gpu = true;
  EXPECT_FALSE(WriteOutput(response, "b", TRITONSERVER_TYPE_INT8, shape, "x", 1).ok());
  EXPECT_TRUE(Error(TRITONBACKEND_ResponseDelete(response)).ok());
}

}  // namespace
}  // namespace nereid::backend
