// SPDX-License-Identifier: Apache-2.0
// The plug-in over a fake TensorRT (tests/tensorrt_stub) and fake GPUs: what it asks of an engine.
// It says nothing of TensorRT itself.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "../../tests/fake_gpu/control.h"
#include "device/context.h"
#include "tensorrt/tensorrt_fixture.h"

namespace nereid::tensorrt::testing {
namespace {

using fake_gpu::Control;

TEST_F(TensorRtTest, ABatchRunsWithTheProfileThatFits) {
  server().instance().profiles = {"0", "1"};
  ASSERT_EQ(LoadSimple(), "");
  TRITONBACKEND_Request a, b;
  a.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 4}, {1, 2, 3, 4});
  b.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {2, 4}, {5, 6, 7, 8, 9, 10, 11, 12});
  a.outputs = b.outputs = {"y"};
  ASSERT_EQ(server().Execute({&a, &b}), "");
  EXPECT_EQ(a.Answer().outputs.at("y").As<float>(), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(b.Answer().outputs.at("y").shape, (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(fake().last_profile, 1);
  EXPECT_EQ(fake().last_shapes.at("x"), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(Ask(), "");
  EXPECT_EQ(fake().last_profile, 0);
  EXPECT_EQ(fake().plans_read, 1);  // the model and its instance share the engine
}

TEST_F(TensorRtTest, TheFirstProfileWhereNoneIsNamed) {
  EXPECT_EQ(LoadSimple(8),
            "model 'm': max_batch_size is 8, but the profiles of the instance group end at 2");
  ASSERT_EQ(LoadSimple(2), "");
  server().instance().profiles = {"2"};
  EXPECT_EQ(LoadSimple(2), "instance_group.profile is '2', but the engine's profiles are 0 to 1");
}

TEST_F(TensorRtTest, TheInstanceIsOnItsGpu) {
  server().instance().device_id = 1;
  ASSERT_EQ(LoadSimple(2, R"(,"instance_group":[{"kind":"KIND_GPU","gpus":[1]}])"), "");
  EXPECT_EQ(Ask(), "");
  EXPECT_EQ(Control::Get().allocations(0), 0);
  EXPECT_EQ(Control::Get().allocations(1), 2);  // x and y
  EXPECT_EQ(fake().plans_read, 1);
}

TEST_F(TensorRtTest, AFileForTheGpusCapability) {
  std::filesystem::rename(Path(), Path("ninety.plan"));
  WriteFile("another file");
  EXPECT_EQ(LoadSimple(2, R"(,"cc_model_filenames":{"9.0":"ninety.plan","8.0":"other.plan"})"), "");
  EXPECT_EQ(LoadSimple(2, R"(,"cc_model_filenames":{"9.0":"none.plan"})"),
            "unable to find '" + Path("none.plan") + "' for model 'm'");
}

TEST_F(TensorRtTest, ShapeTensorsBeginWithTheBatchSize) {
  WritePlan(
      "input x FP32 -1,-1\ninput shape INT32 2 shape\n"
      "output y FP32 -1,-1\noutput shape_out INT32 2 shape\n"
      "profile\nrange x 1,1 4,4 8,8\nrange shape 1,1 4,4 8,8\n");
  const std::string mark = R"(,"is_shape_tensor":true)";
  EXPECT_EQ(Load(Tensor("x", "FP32", "-1") + "," + Tensor("shape", "INT32", "1"),
                 Tensor("y", "FP32", "-1")),
            "model 'm': input 'shape' is a shape tensor of the TensorRT engine; set "
            "is_shape_tensor to true");
  EXPECT_EQ(Load(Tensor("x", "FP32", "-1", mark) + "," + Tensor("shape", "INT32", "1", mark),
                 Tensor("y", "FP32", "-1")),
            "model 'm': input 'x' is no shape tensor of the TensorRT engine; set is_shape_tensor "
            "to false");
  EXPECT_EQ(Load(Tensor("x", "FP32", "-1") + "," + Tensor("shape", "INT32", "2", mark),
                 Tensor("y", "FP32", "-1")),
            "model 'm', tensor 'shape': the model expects 1 dimensions (shape [2]) but the model "
            "configuration specifies 1 dimensions (shape [3])");
  ASSERT_EQ(Load(Tensor("x", "FP32", "-1") + "," + Tensor("shape", "INT32", "1", mark),
                 Tensor("y", "FP32", "-1") + "," + Tensor("shape_out", "INT32", "1", mark)),
            "");
  TRITONBACKEND_Request a, b, other;
  for (auto* request : {&a, &b, &other}) {
    request->AddInput<float>("x", TRITONSERVER_TYPE_FP32, {2, 1}, {1, 2});
    request->AddInput<int32_t>("shape", TRITONSERVER_TYPE_INT32, {1}, {request == &other ? 9 : 7});
    request->outputs = {"y", "shape_out"};
  }
  ASSERT_EQ(server().Execute({&a, &b}), "");
  EXPECT_EQ(fake().last_values.at("shape"), (std::vector<int64_t>{4, 7}));
  EXPECT_EQ(b.Answer().outputs.at("y").As<float>(), (std::vector<float>{2, 4}));
  for (const auto* request : {&a, &b}) {
    // As Triton: the values for each item of the batch.
    EXPECT_EQ(request->Answer().outputs.at("shape_out").shape, (std::vector<int64_t>{2, 1}));
    EXPECT_EQ(request->Answer().outputs.at("shape_out").As<int32_t>(),
              (std::vector<int32_t>{7, 7}));
  }
  ASSERT_EQ(server().Execute({&other}), "");
  EXPECT_EQ(other.Answer().message,
            "input 'shape' is [2,9], but the engine takes [1,1] to [8,8] (profile 0)");
}

TEST_F(TensorRtTest, RequestsWhoseShapeTensorsDifferRunApart) {
  WritePlan(
      "input x FP32 -1,-1\ninput shape INT64 2 shape\noutput y FP32 -1,-1\n"
      "profile\nrange x 1,1 4,4 8,8\nrange shape 1,1 4,4 8,8\n");
  ASSERT_EQ(Load(Tensor("x", "FP32", "-1") + "," +
                     Tensor("shape", "INT64", "1", R"(,"is_shape_tensor":true)"),
                 Tensor("y", "FP32", "-1")),
            "");
  TRITONBACKEND_Request a, b;
  int64_t value = 3;
  for (auto* request : {&a, &b}) {
    request->AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 1}, {1});
    request->AddInput<int64_t>("shape", TRITONSERVER_TYPE_INT64, {1}, {value++});
    request->outputs = {"y"};
  }
  ASSERT_EQ(server().Execute({&a, &b}), "");
  EXPECT_EQ(a.Answer().outputs.at("y").As<float>(), std::vector<float>{2});
  EXPECT_EQ(b.Answer().outputs.at("y").As<float>(), std::vector<float>{2});
  EXPECT_EQ(fake().last_values.at("shape"), (std::vector<int64_t>{1, 4}));
}

TEST_F(TensorRtTest, WithoutBatchingAShapeTensorIsPassedOn) {
  WritePlan(
      "input x FP32 -1,-1\ninput shape INT32 2 shape\noutput y FP32 -1,-1\n"
      "output shape_out INT32 2 shape\n"
      "profile\nrange x 1,1 4,4 8,8\nrange shape 1,1 4,4 8,8\n");
  const std::string mark = R"(,"is_shape_tensor":true)";
  ASSERT_EQ(Load(Tensor("x", "FP32", "-1,-1") + "," + Tensor("shape", "INT32", "2", mark),
                 Tensor("y", "FP32", "-1,-1") + "," + Tensor("shape_out", "INT32", "2", mark), 0),
            "");
  TRITONBACKEND_Request request;
  request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {2, 1}, {1, 2});
  request.AddInput<int32_t>("shape", TRITONSERVER_TYPE_INT32, {2}, {3, 4});
  request.outputs = {"shape_out"};
  ASSERT_EQ(server().Execute({&request}), "");
  EXPECT_EQ(request.Answer().outputs.at("shape_out").shape, std::vector<int64_t>{2});
  EXPECT_EQ(request.Answer().outputs.at("shape_out").As<int32_t>(), (std::vector<int32_t>{3, 4}));
}

TEST_F(TensorRtTest, TheConfigurationIsCompleted) {
  server().model().auto_complete = true;
  server().instance().profiles = {"1"};
  ASSERT_EQ(Load("", "", 0, R"(,"instance_group":[{"kind":"KIND_GPU","profile":["1"]}])"), "");
  const std::string& config = server().model().config;
  EXPECT_NE(config.find(R"("max_batch_size":8)"), std::string::npos) << config;
  EXPECT_NE(config.find(R"({"name":"x","data_type":"TYPE_FP32","dims":[4]})"), std::string::npos)
      << config;
  EXPECT_NE(config.find(R"("dynamic_batching":{})"), std::string::npos) << config;
  EXPECT_EQ(Ask(), "");
}

TEST_F(TensorRtTest, TheConfigurationIsCompletedFieldByField) {
  server().model().auto_complete = true;
  WritePlan(
      "input x FP32 -1,4\ninput shape INT32 3 shape\ninput v INT8 -1,3,2,2 CHW4\n"
      "output y FP32 -1,4\n"
      "profile\nrange x 1,4 4,4 6,4\nrange shape 1,1,1 4,4,4 8,8,8\n"
      "range v 1,3,2,2 2,3,2,2 8,3,2,2\n");
  ASSERT_EQ(Load(R"({"name":"x","data_type":"TYPE_INVALID","dims":[],"is_shape_tensor":false},)"
                 R"({"name":"v","is_non_linear_format_io":false})",
                 R"({"name":"y","dims":[4]})", 0),
            "");
  const std::string& config = server().model().config;
  for (const char* wanted :
       {R"("max_batch_size":6)", R"("name":"x","is_shape_tensor":false,"data_type":"TYPE_FP32")",
        R"({"name":"shape","data_type":"TYPE_INT32","dims":[2],"is_shape_tensor":true})",
        R"({"name":"v","dims":[3,2,2],"data_type":"TYPE_INT8","is_non_linear_format_io":true})",
        R"({"name":"y","dims":[4],"data_type":"TYPE_FP32"})"}) {
    EXPECT_NE(config.find(wanted), std::string::npos) << wanted << "\n" << config;
  }
}

TEST_F(TensorRtTest, AModelOfFixedBatchSizeDoesNotBatch) {
  server().model().auto_complete = true;
  WritePlan("input x FP32 2,4\noutput y FP32 2,4\nprofile\nrange x 2,4 2,4 2,4\n");
  ASSERT_EQ(Load("", "", 0), "");
  EXPECT_NE(server().model().config.find(R"("dims":[2,4])"), std::string::npos);
  EXPECT_EQ(Ask(2), "");
}

TEST_F(TensorRtTest, TypesOfTheTable) {
  server().instance().profiles = {"1"};
  for (const std::string type :
       {"BOOL", "UINT8", "INT8", "INT32", "INT64", "FP16", "BF16", "FP32"}) {
    WritePlan("input x " + type + " -1,4\noutput y " + type + " -1,4\n");
    EXPECT_EQ(Load(Tensor("x", type, "4"), Tensor("y", type, "4")), "") << type;
    EXPECT_EQ(Load(Tensor("x", "UINT32", "4"), Tensor("y", type, "4")),
              "unable to load model 'm', configuration expects datatype TYPE_UINT32 for input 'x', "
              "model provides TYPE_" +
                  type);
  }
  WritePlan("input x FP8 -1,4\noutput y FP8 -1,4\n");
  EXPECT_EQ(LoadSimple(),
            "model 'm': input 'x' is kFP8 [-1,4] in the TensorRT model, which the "
            "inference protocol cannot carry");
}

TEST_F(TensorRtTest, DataInAFormatOfTheEngine) {
  WritePlan(
      "input v INT8 -1,3,2,2 CHW4\noutput w INT8 -1,3,2,2 CHW4\n"
      "profile\nrange v 1,3,2,2 1,3,2,2 8,3,2,2\n");
  const std::string mark = R"(,"is_non_linear_format_io":true)";
  EXPECT_EQ(Load(Tensor("v", "INT8", "3,2,2"), Tensor("w", "INT8", "3,2,2", mark)),
            "model 'm': input 'v' is in the format '4 channels together' in the TensorRT engine; "
            "set is_non_linear_format_io to true and exchange the data in this format");
  ASSERT_EQ(Load(Tensor("v", "INT8", "3,2,2", mark), Tensor("w", "INT8", "3,2,2", mark)), "");
  // Three channels take the room of four.
  const std::string bytes = "0123456789abcdef";
  TRITONBACKEND_Request a, b, small;
  a.AddRaw("v", TRITONSERVER_TYPE_INT8, {1, 3, 2, 2}, bytes);
  b.AddRaw("v", TRITONSERVER_TYPE_INT8, {1, 3, 2, 2}, "FEDCBA9876543210");
  small.AddRaw("v", TRITONSERVER_TYPE_INT8, {1, 3, 2, 2}, bytes.substr(4));
  a.outputs = b.outputs = small.outputs = {"w"};
  ASSERT_EQ(server().Execute({&a, &b, &small}), "");
  EXPECT_EQ(a.Answer().outputs.at("w").shape, (std::vector<int64_t>{1, 4, 2, 2}));
  EXPECT_EQ(a.Answer().outputs.at("w").data, std::vector<char>(bytes.begin(), bytes.end()));
  EXPECT_EQ(b.Answer().outputs.at("w").data[0], 'F');
  EXPECT_EQ(small.Answer().message,
            "input 'v' of shape [1,3,2,2] has 12 bytes, but 16 bytes in the format '4 channels "
            "together' of the engine");
}

TEST_F(TensorRtTest, AFormatWithGapsIsRefused) {
  WritePlan(
      "input v INT8 -1,3,2,2 DLA_LINEAR\noutput w INT8 -1,3,2,2\n"
      "profile\nrange v 1,3,2,2 1,3,2,2 8,3,2,2\n");
  EXPECT_EQ(Load(Tensor("v", "INT8", "3,2,2"), Tensor("w", "INT8", "3,2,2")),
            "the TensorRT plan '" + Path() +
                "' has the tensor 'v' in the format 'row major' of a DLA, whose size in memory is "
                "unknown; build it with another format");
}

TEST_F(TensorRtTest, RaggedRequestsAndDerivedInputs) {
  WritePlan(
      "input r FP32 -1\ninput ends INT32 -1\noutput y FP32 -1\n"
      "profile\nrange r 1 8 64\nrange ends 1 4 8\n");
  ASSERT_EQ(
      Load(Tensor("r", "FP32", "-1", R"(,"allow_ragged_batch":true)"), Tensor("y", "FP32", "-1"), 8,
           R"(,"batch_input":[{"kind":"BATCH_ACCUMULATED_ELEMENT_COUNT",
                     "target_name":["ends"],"data_type":"TYPE_INT32","source_input":["r"]}],
                    "batch_output":[{"kind":"BATCH_SCATTER_WITH_INPUT_SHAPE",
                     "target_name":["y"],"source_input":["r"]}])"),
      "");
  TRITONBACKEND_Request a, b;
  a.AddInput<float>("r", TRITONSERVER_TYPE_FP32, {1, 2}, {1, 2});
  b.AddInput<float>("r", TRITONSERVER_TYPE_FP32, {1, 3}, {3, 4, 5});
  a.outputs = b.outputs = {"y"};
  ASSERT_EQ(server().Execute({&a, &b}), "");
  EXPECT_EQ(a.Answer().outputs.at("y").As<float>(), (std::vector<float>{2, 4}));
  EXPECT_EQ(b.Answer().outputs.at("y").As<float>(), (std::vector<float>{6, 8, 10}));
  EXPECT_EQ(fake().last_shapes.at("r"), std::vector<int64_t>{5});
  EXPECT_EQ(fake().last_shapes.at("ends"), std::vector<int64_t>{2});
}

TEST_F(TensorRtTest, CudaGraphs) {
  server().instance().profiles = {"1"};
  ASSERT_EQ(LoadSimple(8, R"(,"optimization":{"cuda":{"graphs":true}},
                             "instance_group":[{"profile":["1"]}])"),
            "");
  const int captured = fake().enqueued;
  EXPECT_EQ(captured, 8);  // the batch sizes 1, 2, 4 and 8: a run and a capture each
  for (const int rows : {1, 2, 4, 8, 8, 1}) {
    EXPECT_EQ(Ask(rows), "");
  }
  EXPECT_EQ(fake().enqueued, captured);
  EXPECT_EQ(Ask(3), "");  // no graph
  EXPECT_EQ(fake().enqueued, captured + 1);
  EXPECT_EQ(Ask(8), "");
  EXPECT_EQ(fake().enqueued, captured + 1);
}

TEST_F(TensorRtTest, ACudaGraphForARangeOfBatchSizes) {
  server().instance().profiles = {"1"};
  const std::string groups = R"(,"instance_group":[{"profile":["1"]}])";
  ASSERT_EQ(LoadSimple(8, R"(,"optimization":{"priority":"PRIORITY_MAX","cuda":{"graphs":true,
      "busy_wait_events":true,"output_copy_stream":true,"graph_spec":[{"batch_size":6,
      "input":{"x":{"dim":["4"]}},"graph_lower_bound":{"batch_size":3}}]}})" +
                              groups),
            "");
  const int captured = fake().enqueued;
  for (const int rows : {3, 6, 4}) {
    EXPECT_EQ(Ask(rows), "");
  }
  EXPECT_EQ(fake().enqueued, captured);
  EXPECT_EQ(Ask(2), "");
  EXPECT_EQ(Ask(7), "");
  EXPECT_EQ(fake().enqueued, captured + 2);
  EXPECT_EQ(Ask(6), "");  // a graph whose buffers have moved is not used
  EXPECT_EQ(
      LoadSimple(8, R"(,"optimization":{"cuda":{"graphs":true,"graph_spec":[{"batch_size":9}]}})" +
                        groups),
      "optimization.cuda.graph_spec has the batch_size 9, which must be from 1 to "
      "max_batch_size, 8");
}

TEST_F(TensorRtTest, ACudaGraphCutsOnlyWhatDependsOnTheInputs) {
  WritePlan(
      "input x FP32 -1,4\ninput k FP32 6,4\noutput y FP32 -1,4\noutput s FP32 6,4\n"
      "profile\nrange x 1,4 4,4 8,4\nrange k 6,4 6,4 6,4\n");
  ASSERT_EQ(Load(Tensor("x", "FP32", "-1,4") + "," + Tensor("k", "FP32", "6,4"),
                 Tensor("y", "FP32", "-1,4") + "," + Tensor("s", "FP32", "6,4"), 0,
                 R"(,"optimization":{"cuda":{"graphs":true,"graph_spec":[{
                     "input":{"x":{"dim":["6","4"]},"k":{"dim":["6","4"]}},
                     "graph_lower_bound":{"input":{"x":{"dim":["3","4"]},"k":{"dim":["6","4"]}}}}]}})"),
            "");
  const int captured = fake().enqueued;
  TRITONBACKEND_Request request;
  request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {4, 4}, std::vector<float>(16, 1));
  request.AddInput<float>("k", TRITONSERVER_TYPE_FP32, {6, 4}, std::vector<float>(24, 3));
  request.outputs = {"y", "s"};
  ASSERT_EQ(server().Execute({&request}), "");
  EXPECT_EQ(request.Answer().outputs.at("y").shape, (std::vector<int64_t>{4, 4}));
  EXPECT_EQ(request.Answer().outputs.at("s").shape, (std::vector<int64_t>{6, 4}));
  EXPECT_EQ(request.Answer().outputs.at("s").As<float>(), std::vector<float>(24, 6));
  EXPECT_EQ(fake().enqueued, captured);
}

TEST_F(TensorRtTest, APlanWhoseProfilesAreNotSharedHasNoCudaGraphs) {
  WritePlan("exclusive_profiles\ninput x FP32 -1,4\noutput y FP32 -1,4\n");
  server().instance().profiles = {"1"};
  ASSERT_EQ(LoadSimple(8, R"(,"optimization":{"cuda":{"graphs":true}},
                             "instance_group":[{"profile":["1"]}])"),
            "");
  EXPECT_EQ(Ask(8), "");
  EXPECT_EQ(fake().enqueued, 1);
}

TEST_F(TensorRtTest, AnErrorInTheLogOfTheStartIsNoFailure) {
  fake().start_complains = true;
  EXPECT_EQ(LoadSimple(2), "");
  EXPECT_EQ(Ask(), "");
}

/// Memory of fake GPU 0 that begins with these floats.
class Floats {
 public:
  explicit Floats(const std::vector<float>& values) {
    const auto current = device::ScopedDevice::Enter(0);
    EXPECT_EQ((*device::CudaDriver::Get())->MemAlloc(&data_, 4096), 0);
    const size_t size = values.size() * sizeof(float);
    std::memcpy(Control::Get().host_address(data_, size), values.data(), size);
  }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  ~Floats() {
    const auto current = device::ScopedDevice::Enter(0);
    (*device::CudaDriver::Get())->MemFree(data_);
  }
  char* data() const { return reinterpret_cast<char*>(data_); }

 private:
  device::CuPointer data_ = 0;
};

TEST_F(TensorRtTest, TensorsInGpuMemory) {
  ASSERT_EQ(LoadSimple(2), "");
  const Floats x({1, 2, 3, 4});
  const Floats y({0, 0, 0, 0});
  for (const bool to_gpu : {false, true}) {
    const long copies = Control::Get().calls("cuMemcpyAsync");
    TRITONBACKEND_Request request;
    request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 4}, {0, 0, 0, 0});
    request.inputs.back().memory_type = TRITONSERVER_MEMORY_GPU;
    request.inputs.back().gpu_pieces = {x.data()};
    request.outputs = {"y"};
    if (to_gpu) {
      backend::testing::GpuBuffers() = [&](uint64_t) { return y.data(); };
    }
    ASSERT_EQ(server().Execute({&request}), "");
    backend::testing::GpuBuffers() = nullptr;
    ASSERT_EQ(request.Answer().message, "");
    std::vector<float> found(4);
    if (to_gpu) {
      std::memcpy(found.data(),
                  Control::Get().host_address(reinterpret_cast<uint64_t>(y.data()), 16), 16);
    } else {
      found = request.Answer().outputs.at("y").As<float>();
    }
    EXPECT_EQ(found, (std::vector<float>{2, 4, 6, 8}));
    EXPECT_EQ(Control::Get().calls("cuMemcpyAsync"), copies + 1);  // of the output
  }
}

TEST_F(TensorRtTest, TensorsThatFollowEachOtherAreNotCopiedTogether) {
  const Floats x({1, 2, 3, 4, 5, 6, 7, 8});
  for (const bool coalesce : {false, true}) {
    server().backend().config = std::string(R"({"cmdline":{"coalesce-request-input":")") +
                                (coalesce ? "true" : "false") + R"("}})";
    ASSERT_EQ(LoadSimple(2), "");
    const long copies = Control::Get().calls("cuMemcpyAsync");
    TRITONBACKEND_Request a, b;
    for (auto* request : {&a, &b}) {
      request->AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 4}, {0, 0, 0, 0});
      request->inputs.back().memory_type = TRITONSERVER_MEMORY_GPU;
      request->inputs.back().gpu_pieces = {x.data() + (request == &a ? 0 : 16)};
      request->outputs = {"y"};
    }
    ASSERT_EQ(server().Execute({&a, &b}), "");
    EXPECT_EQ(a.Answer().outputs.at("y").As<float>(), (std::vector<float>{2, 4, 6, 8}));
    EXPECT_EQ(b.Answer().outputs.at("y").As<float>(), (std::vector<float>{10, 12, 14, 16}));
    // The copy of the output, and those that put the inputs together.
    EXPECT_EQ(Control::Get().calls("cuMemcpyAsync") - copies, coalesce ? 1 : 3);
  }
}

TEST_F(TensorRtTest, TheContextsMemory) {
  const auto parameter = [](const std::string& value) {
    return R"(,"parameters":{"execution_context_allocation_strategy":{"string_value":")" + value +
           R"("}})";
  };
  EXPECT_EQ(LoadSimple(2, parameter("STATIC")), "");
  EXPECT_EQ(LoadSimple(2, parameter("ON_PROFILE_CHANGE")), "");
  EXPECT_EQ(LoadSimple(2, parameter("USER_MANAGED")),
            "model 'm': the parameter 'execution_context_allocation_strategy' is 'USER_MANAGED', "
            "but must be STATIC or ON_PROFILE_CHANGE");
}

TEST_F(TensorRtTest, ADlaCore) {
  server().instance().dla_cores = {1};
  const std::string group =
      R"(,"instance_group":[{"secondary_devices":[{"kind":"KIND_NVDLA","device_id":"1"}]}])";
  EXPECT_EQ(LoadSimple(2, group), "");
  EXPECT_EQ(fake().last_dla_core, 1);
  EXPECT_EQ(fake().plans_read, 1);
  server().instance().dla_cores = {2};
  EXPECT_EQ(LoadSimple(2, group),
            "secondary_devices names the DLA core 2, but the GPU has 2 DLA cores");
}

TEST_F(TensorRtTest, SettingsOfTheBackend) {
  const auto set = [&](const std::string& settings) {
    server().backend().config = R"({"cmdline":{)" + settings + "}}";
  };
  WritePlan("host_code\ninput x FP32 -1,4\noutput y FP32 -1,4\n");
  EXPECT_NE(LoadSimple(2).find("code for the host is not allowed"), std::string::npos);
  set(R"("version-compatible":"true","execution-policy":"DEVICE_BLOCKING")");
  EXPECT_EQ(LoadSimple(2), "");
  EXPECT_EQ(server().backend().policy, TRITONBACKEND_EXECUTION_DEVICE_BLOCKING);
  EXPECT_EQ(Ask(), "");
  set(R"("plugins":"/nowhere/a.so;/nowhere/b.so")");
  EXPECT_NE(LoadSimple(2).find("the TensorRT plugin '/nowhere/a.so' "
                               "(--backend-config=tensorrt,plugins) cannot be opened"),
            std::string::npos);
  set(R"("execution-policy":"SOMETIMES")");
  EXPECT_EQ(LoadSimple(2),
            "backend 'tensorrt': execution-policy is 'SOMETIMES', but must be BLOCKING or "
            "DEVICE_BLOCKING");
}

}  // namespace
}  // namespace nereid::tensorrt::testing
