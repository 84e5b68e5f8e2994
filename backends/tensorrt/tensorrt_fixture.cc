// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/tensorrt_fixture.h"

#include <cstdlib>
#include <fstream>

#include "../../tests/fake_gpu/control.h"

namespace nereid::tensorrt::testing {
namespace {

using fake_gpu::Control;

// Before the fake driver reads its environment.
const int kThreeGpus = setenv("NEREID_FAKE_GPUS", "3", 1);

constexpr char kTwoProfiles[] =
    "profile\nrange x 1,4 1,4 2,4\n"
    "profile\nrange x 1,4 8,4 8,4\n";

}  // namespace

TensorRtTest::TensorRtTest()
    : folder_(std::filesystem::temp_directory_path() /
              ("nereid_tensorrt_" +
               std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
  FakeTensorRt& fake = *nereid_fake_tensorrt();
  fake.no_context = fake.enqueue_fails = fake.profile_fails = fake.start_fails = false;
  fake.start_complains = false;
  fake.enqueued = fake.plans_read = 0;
  fake.last_profile = fake.last_dla_core = -1;
  fake.last_shapes.clear();
  fake.last_values.clear();
  fake.overrun = false;
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_ / "1");
  WritePlan("input x FP32 -1,4\noutput y FP32 -1,4\n");
  server_.emplace();
  server_->model().directory = folder_.string();
  server_->instance().kind = TRITONSERVER_INSTANCEGROUPKIND_GPU;
}

TensorRtTest::~TensorRtTest() {
  Unload();
  std::filesystem::remove_all(folder_);
  EXPECT_FALSE(fake().overrun);
  EXPECT_EQ(fake().engines, 0);
  EXPECT_EQ(fake().contexts, 0);
  EXPECT_EQ(Control::Get().allocations(0), 0);
  EXPECT_EQ(Control::Get().allocations(1), 0);
  EXPECT_EQ(Control::Get().pinned_bytes(), 0U);
  EXPECT_EQ(backend::testing::LiveErrors(), 0);
}

void TensorRtTest::Unload() { server_.reset(); }

void TensorRtTest::WriteFile(const std::string& content, const std::string& file) {
  std::ofstream(folder_ / "1" / file, std::ios::trunc) << content;
}

void TensorRtTest::WritePlan(const std::string& lines, const std::string& file) {
  const bool has_profiles = lines.find("profile\n") != std::string::npos;
  WriteFile("fake plan\n" + lines + (has_profiles ? "" : kTwoProfiles) + "end\n", file);
}

std::string TensorRtTest::Load(const std::string& inputs, const std::string& outputs,
                               int max_batch_size, const std::string& more) {
  server_->model().config = R"({"name":"m","max_batch_size":)" + std::to_string(max_batch_size) +
                            R"(,"input":[)" + inputs + R"(],"output":[)" + outputs + "]" + more +
                            "}";
  return server_->Load();
}

std::string TensorRtTest::LoadSimple(int max_batch_size, const std::string& more) {
  return Load(Tensor("x", "FP32", "4"), Tensor("y", "FP32", "4"), max_batch_size, more);
}

std::string TensorRtTest::Tensor(const std::string& name, const std::string& type,
                                 const std::string& dims, const std::string& more) {
  return R"({"name":")" + name + R"(","data_type":"TYPE_)" + type + R"(","dims":[)" + dims + "]" +
         more + "}";
}

std::string TensorRtTest::Ask(int rows) {
  TRITONBACKEND_Request request;
  std::vector<float> x, twice;
  for (int i = 0; i < rows * 4; ++i) {
    x.push_back(static_cast<float>(i + 1));
    twice.push_back(2 * x.back());
  }
  request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {rows, 4}, x);
  request.outputs = {"y"};
  EXPECT_EQ(server_->Execute({&request}), "");
  if (request.Answer().failed) {
    return request.Answer().message;
  }
  EXPECT_EQ(request.Answer().outputs.at("y").As<float>(), twice);
  return "";
}

}  // namespace nereid::tensorrt::testing
