// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/accelerators.h"

#include <gtest/gtest.h>

namespace nereid::onnxruntime {
namespace {

const std::vector<std::string> kPlain = {"CPUExecutionProvider"};
const std::vector<std::string> kOpenVino = {"OpenVINOExecutionProvider", "CPUExecutionProvider"};
const std::vector<std::string> kCuda = {"TensorrtExecutionProvider", "CUDAExecutionProvider",
                                        "CPUExecutionProvider"};
constexpr framework::Placement kCpu;
constexpr framework::Placement kGpu{1};

ModelConfig Config(const std::string& cpu, const std::string& gpu = "") {
  ModelConfig config;
  config.name = "m";
  if (!cpu.empty()) {
    config.cpu_accelerators.push_back({cpu, {{"device_type", "CPU"}, {"num_of_threads", "2"}}});
  }
  if (!gpu.empty()) {
    config.gpu_accelerators.push_back({gpu, {}});
  }
  return config;
}

TEST(AcceleratorsTest, ParametersArePassedOn) {
  Accelerators chosen;
  ASSERT_TRUE(ChooseAccelerators(Config("openvino"), kCpu, kOpenVino, &chosen).ok());
  ASSERT_EQ(chosen.providers.size(), 1u);
  EXPECT_EQ(chosen.providers[0].name, "OpenVINO");
  EXPECT_EQ(chosen.providers[0].options.at("num_of_threads"), "2");
}

TEST(AcceleratorsTest, OnesThatThisOnnxRuntimeLacks) {
  Accelerators chosen;
  const Error error = ChooseAccelerators(Config("xnnpack"), kCpu, kPlain, &chosen);
  EXPECT_EQ(TRITONSERVER_ErrorCode(error.get()), TRITONSERVER_ERROR_UNSUPPORTED);
  EXPECT_EQ(error.message(),
            "model 'm': the Execution Accelerator 'xnnpack' is not in this ONNX Runtime, which "
            "has: CPUExecutionProvider; name a library that has it in NEREID_ONNXRUNTIME_LIBRARY, "
            "or remove it from optimization.execution_accelerators");
}

TEST(AcceleratorsTest, OpenVinoItselfWhereOnnxRuntimeLacksIt) {
  Accelerators chosen;
  const ModelConfig config = Config("openvino");
  ASSERT_TRUE(ChooseAccelerators(config, kCpu, kPlain, &chosen).ok());
  EXPECT_TRUE(chosen.providers.empty());
  EXPECT_EQ(chosen.openvino, &config.cpu_accelerators[0]);
  ASSERT_TRUE(ChooseAccelerators(config, kCpu, kOpenVino, &chosen).ok());
  EXPECT_EQ(chosen.openvino, nullptr);
}

TEST(AcceleratorsTest, UnknownOnes) {
  Accelerators chosen;
  EXPECT_EQ(ChooseAccelerators(Config("openvion"), kCpu, kOpenVino, &chosen).message(),
            "model 'm': unknown Execution Accelerator 'openvion' is requested in "
            "optimization.execution_accelerators.cpu_execution_accelerator; the known ones are: "
            "openvino, xnnpack");
  EXPECT_EQ(ChooseAccelerators(Config("", "tensorflow"), kCpu, kOpenVino, &chosen).message(),
            "model 'm': unknown Execution Accelerator 'tensorflow' is requested in "
            "optimization.execution_accelerators.gpu_execution_accelerator; the known ones are: "
            "tensorrt, cuda, rocm, migraphx");
}

TEST(AcceleratorsTest, WhatIsForGpusIsLeftAsideAndNamedOnce) {
  Accelerators chosen;
  ModelConfig config = Config("", "tensorrt");
  ASSERT_TRUE(ChooseAccelerators(config, kCpu, kPlain, &chosen).ok());
  EXPECT_TRUE(chosen.providers.empty());
  config.gpu_settings = {"optimization.priority", "cc_model_filenames"};
  EXPECT_EQ(IgnoredSettings(config, kCpu),
            "model 'm' runs on the CPU and ignores these settings for GPUs: optimization.priority, "
            "cc_model_filenames, the Execution Accelerator 'tensorrt'");
  EXPECT_EQ(IgnoredSettings(Config(""), kCpu), "");
}

TEST(AcceleratorsTest, AnInstanceOnAGpuHasCuda) {
  Accelerators chosen;
  ASSERT_TRUE(ChooseAccelerators(Config("openvino"), kGpu, kCuda, &chosen).ok());
  EXPECT_EQ(chosen.openvino, nullptr);
  ASSERT_EQ(chosen.providers.size(), 1u);
  EXPECT_EQ(chosen.providers[0].name, "CUDA");
  EXPECT_EQ(chosen.providers[0].options.at("device_id"), "1");
  EXPECT_EQ(IgnoredSettings(Config("openvino"), kGpu),
            "model 'm' runs on a GPU with ONNX Runtime and ignores these settings: the Execution "
            "Accelerator 'openvino'");
}

TEST(AcceleratorsTest, TensorRtIsBeforeCuda) {
  Accelerators chosen;
  ModelConfig config = Config("", "tensorrt");
  config.gpu_accelerators[0].parameters = {{"precision_mode", "FP16"}};
  ASSERT_TRUE(ChooseAccelerators(config, kGpu, kCuda, &chosen).ok());
  ASSERT_EQ(chosen.providers.size(), 2u);
  EXPECT_EQ(chosen.providers[0].name, "Tensorrt");
  EXPECT_EQ(chosen.providers[0].options.at("trt_fp16_enable"), "1");
  EXPECT_EQ(chosen.providers[1].name, "CUDA");
}

TEST(AcceleratorsTest, ALibraryForTheCpuRefusesGpus) {
  Accelerators chosen;
  const Error error = ChooseAccelerators(Config(""), kGpu, kPlain, &chosen);
  EXPECT_EQ(TRITONSERVER_ErrorCode(error.get()), TRITONSERVER_ERROR_UNSUPPORTED);
  EXPECT_EQ(error.message(),
            "model 'm': ONNX Runtime cannot use GPU 1, because this library has no CUDA execution "
            "provider, only: CPUExecutionProvider; install the library of onnxruntime-gpu "
            "(tools/fetch_onnxruntime.sh --gpu), or set the instance group's kind to KIND_CPU");
}

}  // namespace
}  // namespace nereid::onnxruntime
