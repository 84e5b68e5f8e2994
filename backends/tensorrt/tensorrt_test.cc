// SPDX-License-Identifier: Apache-2.0
// The plug-in over a fake TensorRT (tests/tensorrt_stub): what it asks of an engine. It says
// nothing of TensorRT itself.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fake_tensorrt.h"
#include "testing/fake_server.h"

namespace nereid::tensorrt::testing {
namespace {

using nvinfer1::DataType;

class TensorRtTest : public ::testing::Test {
 protected:
  TensorRtTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("nereid_tensorrt_" +
                 std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    Fake() = {};
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "1");
    WritePlan("a plan");
    server_.emplace();
    server_->model().directory = folder_.string();
    server_->instance().kind = TRITONSERVER_INSTANCEGROUPKIND_GPU;
    Fake().tensors = {{"x", DataType::kFLOAT, {-1, 4}, true, false},
                      {"y", DataType::kFLOAT, {-1, 4}, false, false}};
    Fake().profiles = {{{"x", {{{1, 4}, {1, 4}, {2, 4}}}}}, {{"x", {{{1, 4}, {8, 4}, {8, 4}}}}}};
  }
  ~TensorRtTest() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
    EXPECT_EQ(Fake().live, 0);
    EXPECT_EQ(backend::testing::LiveErrors(), 0);
  }

  void WritePlan(const std::string& content) {
    std::ofstream(folder_ / "1" / "model.plan", std::ios::trunc) << content;
  }
  std::string Load(const std::string& inputs, const std::string& outputs, int max_batch_size = 8) {
    server_->model().config = R"({"name":"m","max_batch_size":)" + std::to_string(max_batch_size) +
                              R"(,"input":[)" + inputs + R"(],"output":[)" + outputs + "]}";
    return server_->Load();
  }
  static std::string Tensor(const std::string& name, const std::string& type,
                            const std::string& dims, const std::string& more = "") {
    return R"({"name":")" + name + R"(","data_type":"TYPE_)" + type + R"(","dims":[)" + dims + "]" +
           more + "}";
  }
  std::string LoadSimple(int max_batch_size = 8) {
    return Load(Tensor("x", "FP32", "4"), Tensor("y", "FP32", "4"), max_batch_size);
  }

  std::filesystem::path folder_;
  std::optional<backend::testing::FakeServer> server_;
};

TEST_F(TensorRtTest, ABatchRunsWithTheProfileThatFits) {
  server_->instance().profiles = {"0", "1"};
  ASSERT_EQ(LoadSimple(), "");
  TRITONBACKEND_Request a, b;
  a.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 4}, {1, 2, 3, 4});
  b.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {2, 4}, {5, 6, 7, 8, 9, 10, 11, 12});
  a.outputs = b.outputs = {"y"};
  ASSERT_EQ(server_->Execute({&a, &b}), "");
  EXPECT_EQ(a.Answer().outputs.at("y").As<float>(), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(b.Answer().outputs.at("y").shape, (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(Fake().last_profile, 1);
  EXPECT_EQ(Fake().last_shapes.at("x"), (std::vector<int64_t>{3, 4}));
  TRITONBACKEND_Request one;
  one.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 4}, {1, 2, 3, 4});
  one.outputs = {"y"};
  ASSERT_EQ(server_->Execute({&one}), "");
  EXPECT_EQ(Fake().last_profile, 0);
}

TEST_F(TensorRtTest, TheFirstProfileWhereNoneIsNamed) {
  EXPECT_EQ(LoadSimple(8),
            "model 'm': max_batch_size is 8, but the profiles of the instance group end at 2");
  ASSERT_EQ(LoadSimple(2), "");
  server_->instance().profiles = {"2"};
  EXPECT_EQ(LoadSimple(2), "instance_group.profile is '2', but the engine's profiles are 0 to 1");
}

TEST_F(TensorRtTest, ShapeTensorsBeginWithTheBatchSize) {
  Fake().tensors = {{"x", DataType::kFLOAT, {-1, -1}, true, false},
                    {"shape", DataType::kINT32, {2}, true, true},
                    {"y", DataType::kFLOAT, {-1, -1}, false, false},
                    {"shape_out", DataType::kINT32, {2}, false, true}};
  Fake().profiles = {{{"x", {{{1, 1}, {4, 4}, {8, 8}}}}, {"shape", {{{1, 1}, {4, 4}, {8, 8}}}}}};
  const std::string mark = R"(,"is_shape_tensor":true)";
  EXPECT_EQ(Load(Tensor("x", "FP32", "-1") + "," + Tensor("shape", "INT32", "1"),
                 Tensor("y", "FP32", "-1")),
            "model 'm': input 'shape' is a shape tensor of the TensorRT engine; set "
            "is_shape_tensor to true");
  EXPECT_EQ(Load(Tensor("x", "FP32", "-1", mark) + "," + Tensor("shape", "INT32", "1", mark),
                 Tensor("y", "FP32", "-1")),
            "model 'm': input 'x' is no shape tensor of the TensorRT engine; set is_shape_tensor "
            "to false");
  ASSERT_EQ(Load(Tensor("x", "FP32", "-1") + "," + Tensor("shape", "INT32", "1", mark),
                 Tensor("y", "FP32", "-1") + "," + Tensor("shape_out", "INT32", "1", mark)),
            "");
  TRITONBACKEND_Request a, b, other;
  for (auto* request : {&a, &b, &other}) {
    request->AddInput<float>("x", TRITONSERVER_TYPE_FP32, {2, 1}, {1, 2});
    request->AddInput<int32_t>("shape", TRITONSERVER_TYPE_INT32, {1}, {request == &other ? 9 : 7});
    request->outputs = {"y", "shape_out"};
  }
  ASSERT_EQ(server_->Execute({&a, &b}), "");
  EXPECT_EQ(Fake().last_values.at("shape"), (std::vector<int64_t>{4, 7}));
  EXPECT_EQ(b.Answer().outputs.at("y").As<float>(), (std::vector<float>{2, 4}));
  for (const auto* request : {&a, &b}) {
    EXPECT_EQ(request->Answer().outputs.at("shape_out").As<int32_t>(), std::vector<int32_t>{7});
  }
  ASSERT_EQ(server_->Execute({&other}), "");
  EXPECT_EQ(other.Answer().message,
            "input 'shape' is [2,9], but the engine takes [1,1] to [8,8] (profile 0)");
}

TEST_F(TensorRtTest, RequestsWhoseShapeTensorsDifferRunApart) {
  Fake().tensors = {{"x", DataType::kFLOAT, {-1, -1}, true, false},
                    {"shape", DataType::kINT32, {2}, true, true},
                    {"y", DataType::kFLOAT, {-1, -1}, false, false}};
  Fake().profiles = {{{"x", {{{1, 1}, {4, 4}, {8, 8}}}}, {"shape", {{{1, 1}, {4, 4}, {8, 8}}}}}};
  ASSERT_EQ(Load(Tensor("x", "FP32", "-1") + "," +
                     Tensor("shape", "INT32", "1", R"(,"is_shape_tensor":true)"),
                 Tensor("y", "FP32", "-1")),
            "");
  TRITONBACKEND_Request a, b;
  int32_t value = 3;
  for (auto* request : {&a, &b}) {
    request->AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 1}, {1});
    request->AddInput<int32_t>("shape", TRITONSERVER_TYPE_INT32, {1}, {value++});
    request->outputs = {"y"};
  }
  ASSERT_EQ(server_->Execute({&a, &b}), "");
  EXPECT_EQ(a.Answer().outputs.at("y").As<float>(), std::vector<float>{2});
  EXPECT_EQ(b.Answer().outputs.at("y").As<float>(), std::vector<float>{2});
  EXPECT_EQ(Fake().last_values.at("shape"), (std::vector<int64_t>{1, 4}));
}

TEST_F(TensorRtTest, TheConfigurationIsCompleted) {
  server_->model().auto_complete = true;
  server_->instance().profiles = {"1"};
  ASSERT_EQ(Load("", "", 0), "");
  EXPECT_NE(server_->model().config.find(R"("max_batch_size":4)"), std::string::npos)
      << server_->model().config;
  TRITONBACKEND_Request request;
  request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 4}, {1, 2, 3, 4});
  request.outputs = {"y"};
  ASSERT_EQ(server_->Execute({&request}), "");
  EXPECT_FALSE(request.Answer().failed);
}

TEST_F(TensorRtTest, TypesOfTheTable) {
  const std::pair<DataType, const char*> kTypes[] = {
      {DataType::kBOOL, "BOOL"},   {DataType::kUINT8, "UINT8"}, {DataType::kINT8, "INT8"},
      {DataType::kINT32, "INT32"}, {DataType::kINT64, "INT64"}, {DataType::kHALF, "FP16"},
      {DataType::kBF16, "BF16"},   {DataType::kFLOAT, "FP32"}};
  server_->instance().profiles = {"1"};
  for (const auto& [type, name] : kTypes) {
    Fake().tensors[0].type = Fake().tensors[1].type = type;
    EXPECT_EQ(Load(Tensor("x", name, "4"), Tensor("y", name, "4")), "") << name;
    EXPECT_EQ(Load(Tensor("x", "UINT32", "4"), Tensor("y", name, "4")),
              "unable to load model 'm', configuration expects datatype TYPE_UINT32 for input 'x', "
              "model provides TYPE_" +
                  std::string(name));
  }
  Fake().tensors[0].type = DataType::kFP8;
  EXPECT_EQ(LoadSimple(),
            "model 'm': input 'x' is kFP8 [-1,4] in the TensorRT model, which the "
            "inference protocol cannot carry");
}

TEST_F(TensorRtTest, WhatCannotBeLoaded) {
  server_->instance().profiles = {"1"};
  WritePlan("another file");
  EXPECT_EQ(LoadSimple(),
            "TensorRT refuses the plan '" + (folder_ / "1" / "model.plan").string() +
                "' (its reason is in the log); a plan fits the TensorRT version and the GPU that "
                "it was made with");
  EXPECT_EQ(backend::testing::LogLines().back(), "TensorRT: that is no plan");
  std::filesystem::remove(folder_ / "1" / "model.plan");
  EXPECT_EQ(LoadSimple(),
            "unable to find '" + (folder_ / "1" / "model.plan").string() + "' for model 'm'");
  WritePlan("a plan");
  server_->instance().kind = TRITONSERVER_INSTANCEGROUPKIND_CPU;
  EXPECT_EQ(LoadSimple(),
            "model 'm': TensorRT runs on GPUs; set the instance group's kind to "
            "KIND_GPU");
  server_->instance().kind = TRITONSERVER_INSTANCEGROUPKIND_GPU;
  server_->instance().device_id = 1;
  EXPECT_EQ(LoadSimple(), "CUDA cannot use the instance's GPU: invalid device ordinal");
  server_->instance().device_id = 0;
  Fake().no_context = true;
  EXPECT_EQ(LoadSimple(),
            "TensorRT refuses an execution context (is there room on the GPU?); its "
            "reason is in the log");
}

TEST_F(TensorRtTest, RunsThatFail) {
  server_->instance().profiles = {"1"};
  ASSERT_EQ(LoadSimple(), "");
  const auto ask = [&] {
    TRITONBACKEND_Request request;
    request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 4}, {1, 2, 3, 4});
    request.outputs = {"y"};
    EXPECT_EQ(server_->Execute({&request}), "");
    return request.Answer().failed ? request.Answer().message : "";
  };
  Fake().no_device_memory = true;
  EXPECT_EQ(ask(), "CUDA cannot allocate memory: out of memory");
  Fake().no_device_memory = false;
  Fake().enqueue_fails = true;
  EXPECT_EQ(ask(), "TensorRT refuses to run; its reason is in the log");
  Fake().enqueue_fails = false;
  EXPECT_EQ(ask(), "");
}

}  // namespace
}  // namespace nereid::tensorrt::testing
