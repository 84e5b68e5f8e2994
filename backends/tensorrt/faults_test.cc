// SPDX-License-Identifier: Apache-2.0
// What cannot be loaded or run: hostile plans, refusals of TensorRT, errors of the driver.
#include <gtest/gtest.h>

#include <filesystem>

#include "../../tests/fake_gpu/control.h"
#include "device/cuda_api.h"
#include "tensorrt/tensorrt_fixture.h"

namespace nereid::tensorrt::testing {
namespace {

using fake_gpu::Control;

class TensorRtFaults : public TensorRtTest {
 protected:
  ~TensorRtFaults() override { Control::Get().fail(""); }

  std::string Refusal(const std::string& reason) const {
    return "TensorRT cannot read the plan '" + Path() + "'" + reason +
           "; a plan fits the version of TensorRT and the kind of GPU that it was made with";
  }
};

TEST_F(TensorRtFaults, PlansThatAreNone) {
  WriteFile("another file");
  EXPECT_EQ(LoadSimple(2), Refusal(": the magic tag does not match"));
  EXPECT_EQ(backend::testing::LogLines().back(), "TensorRT: the magic tag does not match");
  WriteFile("fake plan\ninput x FP32 -1,4\n");
  EXPECT_EQ(LoadSimple(2), Refusal(": the plan is truncated"));
  WriteFile("");
  EXPECT_EQ(LoadSimple(2), "the TensorRT plan '" + Path() + "' is empty");
  std::filesystem::remove(Path());
  EXPECT_EQ(LoadSimple(2), "unable to find '" + Path() + "' for model 'm'");
  std::filesystem::create_directory(Path());
  EXPECT_EQ(LoadSimple(2), "unable to find '" + Path() + "' for model 'm'");
}

TEST_F(TensorRtFaults, PlansThatSayTheImpossible) {
  WriteFile("fake plan\ninput x FP32 -1,4\noutput y FP32 -1,4\nend\n");
  EXPECT_EQ(LoadSimple(2), "the TensorRT plan '" + Path() + "' has no optimization profile");
  WriteFile("fake plan\ninput x FP32 -1,4\noutput y FP32 -1,4\nprofile\nend\n");
  EXPECT_EQ(LoadSimple(2), "TensorRT does not tell what profile 0 allows of the input 'x'");
  WriteFile(
      "fake plan\ninput x FP32 -1,4\noutput y FP32 -1,4\nprofile\nrange x 1 1,4 1,4,4\nend\n");
  EXPECT_EQ(LoadSimple(2),
            "profile 0 of the TensorRT engine has ranges of different ranks for the input 'x'");
  // A range of huge sizes: the output cannot be allocated.
  WriteFile(
      "fake plan\ninput x FP32 -1,-1\noutput y FP32 -1,-1\n"
      "profile\nrange x 1,1 1,1 2,9000000000000000000\nend\n");
  EXPECT_EQ(Load(Tensor("x", "FP32", "-1"), Tensor("y", "FP32", "-1"), 2), "");
}

TEST_F(TensorRtFaults, InstancesThatCannotBe) {
  server().instance().kind = TRITONSERVER_INSTANCEGROUPKIND_CPU;
  EXPECT_EQ(LoadSimple(2),
            "model 'm': TensorRT runs on GPUs; set the instance group's kind to KIND_GPU");
  server().instance().kind = TRITONSERVER_INSTANCEGROUPKIND_GPU;
  server().instance().device_id = 7;
  EXPECT_EQ(
      LoadSimple(2),
      "TensorRT needs a GPU: cannot use GPU 7: invalid device ordinal (CUDA_ERROR_INVALID_DEVICE)");
  server().instance().device_id = 0;
  fake().no_context = true;
  EXPECT_EQ(LoadSimple(2),
            "TensorRT cannot make an execution context: there is no room for the context; is there "
            "enough memory on the GPU?");
  fake().no_context = false;
  fake().profile_fails = true;
  EXPECT_EQ(LoadSimple(2), "TensorRT cannot select profile 0 (TensorRT gives no reason)");
}

TEST_F(TensorRtFaults, ADriverThatTensorRtCannotUse) {
  fake().start_fails = true;
  EXPECT_EQ(LoadSimple(2),
            "TensorRT cannot start: CUDA initialization failure with error: 35; is the CUDA driver "
            "as new as this TensorRT needs?");
  fake().start_fails = false;
  EXPECT_EQ(LoadSimple(2), "");
}

TEST_F(TensorRtFaults, ARunThatFailsLeavesTheInstanceUsable) {
  ASSERT_EQ(LoadSimple(2), "");
  fake().enqueue_fails = true;
  EXPECT_EQ(Ask(), "TensorRT cannot run the model: a kernel cannot be launched");
  fake().enqueue_fails = false;
  EXPECT_EQ(server().CheckReady(), "");
  EXPECT_EQ(Ask(), "");
}

TEST_F(TensorRtFaults, TheGpuIsFull) {
  ASSERT_EQ(LoadSimple(2), "");
  Control::Get().fail("cuMemAlloc_v2=2");
  EXPECT_EQ(Ask(), "GPU 0: cannot allocate 16 bytes: out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
  Control::Get().fail("cuMemAlloc_v2:2=2");
  EXPECT_EQ(Ask(),
            "TensorRT cannot run the model: GPU 0: cannot allocate 16 bytes: out of memory "
            "(CUDA_ERROR_OUT_OF_MEMORY)");
  Control::Get().fail("");
  EXPECT_EQ(server().CheckReady(), "");
  EXPECT_EQ(Ask(), "");
}

/// Every function of the driver that a load or a run calls fails once, at different calls: there is
/// one error or a correct answer, nothing is left on the GPU, and the next attempt succeeds.
TEST_F(TensorRtFaults, EveryCallOfTheDriver) {
  const std::string graphs =
      R"(,"optimization":{"cuda":{"graphs":true,"output_copy_stream":true}})";
  ASSERT_EQ(LoadSimple(2, graphs), "");
  int failed = 0;
  const auto attempt = [&](const std::string& function, int call) {
    const std::string failure = function + ":" + std::to_string(call) + "!=1";
    // Unloads the model, so that the failure does not hit the end of the last attempt.
    fake().no_context = true;
    EXPECT_NE(LoadSimple(2), "");
    fake().no_context = false;
    Control::Get().fail(failure.c_str());
    const std::string load = LoadSimple(2, graphs);
    const std::string run = load.empty() ? Ask(2) + Ask(1) : "";
    failed += load.empty() && run.empty() ? 0 : 1;
    Control::Get().fail("");
    EXPECT_EQ(server().CheckReady(), load.empty() ? "" : "the plug-in was not initialized")
        << failure << ": " << load << run;
  };
#define NEREID_NAME(name, symbol, result, parameters) #symbol,
  for (const std::string function : {NEREID_CUDA_FUNCTIONS(NEREID_NAME)}) {
    if (function == "cuMemFree_v2" || function == "cuMemFreeHost") {
      continue;  // the memory would stay
    }
    for (const int call : {1, 2, 3, 5, 9}) {
      attempt(function, call);
    }
  }
#undef NEREID_NAME
  EXPECT_GT(failed, 15);
  ASSERT_EQ(LoadSimple(2, graphs), "");
  EXPECT_EQ(Ask(2), "");
}

// No other test uses GPU 2, because the plug-in remembers that it is lost.
TEST_F(TensorRtFaults, AGpuThatIsLost) {
  server().instance().device_id = 2;
  const std::string group = R"(,"instance_group":[{"kind":"KIND_GPU","gpus":[2]}])";
  ASSERT_EQ(LoadSimple(2, group), "");
  ASSERT_EQ(Ask(), "");
  ASSERT_EQ(server().CheckReady(), "");
  Control::Get().fail("cuEventSynchronize=719");
  const std::string reason =
      "GPU 2 cannot be used until the server is started again, because of an earlier error: GPU 2: "
      "cannot finish a run: unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED)";
  EXPECT_EQ(Ask(), reason);
  EXPECT_EQ(server().CheckReady(), reason);
  EXPECT_EQ(Ask(), reason);
  Control::Get().fail("");
  EXPECT_EQ(LoadSimple(2, group), reason);
  server().instance().device_id = 0;
  EXPECT_EQ(LoadSimple(2), "");
  EXPECT_EQ(server().CheckReady(), "");
}

}  // namespace
}  // namespace nereid::tensorrt::testing
