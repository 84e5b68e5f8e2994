// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/accelerators.h"

#include <gtest/gtest.h>

namespace nereid::onnxruntime {
namespace {

const std::vector<std::string> kPlain = {"CPUExecutionProvider"};
const std::vector<std::string> kOpenVino = {"OpenVINOExecutionProvider", "CPUExecutionProvider"};

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
  std::vector<Provider> providers;
  ASSERT_TRUE(ChooseProviders(Config("openvino"), kOpenVino, &providers).ok());
  ASSERT_EQ(providers.size(), 1u);
  EXPECT_EQ(providers[0].name, "OpenVINO");
  EXPECT_EQ(providers[0].options.at("num_of_threads"), "2");
}

TEST(AcceleratorsTest, OnesThatThisOnnxRuntimeLacks) {
  std::vector<Provider> providers;
  const Error error = ChooseProviders(Config("openvino"), kPlain, &providers);
  EXPECT_EQ(TRITONSERVER_ErrorCode(error.get()), TRITONSERVER_ERROR_UNSUPPORTED);
  EXPECT_EQ(error.message(),
            "model 'm': the Execution Accelerator 'openvino' is not in this ONNX Runtime, which "
            "has: CPUExecutionProvider; name a library that has it in NEREID_ONNXRUNTIME_LIBRARY, "
            "or remove it from optimization.execution_accelerators");
}

TEST(AcceleratorsTest, UnknownOnes) {
  std::vector<Provider> providers;
  EXPECT_EQ(ChooseProviders(Config("openvion"), kOpenVino, &providers).message(),
            "model 'm': unknown Execution Accelerator 'openvion' is requested in "
            "optimization.execution_accelerators.cpu_execution_accelerator; the known ones are: "
            "openvino, xnnpack");
  EXPECT_EQ(ChooseProviders(Config("", "tensorflow"), kOpenVino, &providers).message(),
            "model 'm': unknown Execution Accelerator 'tensorflow' is requested in "
            "optimization.execution_accelerators.gpu_execution_accelerator; the known ones are: "
            "tensorrt, cuda, rocm, migraphx");
}

TEST(AcceleratorsTest, WhatIsForGpusIsLeftAsideAndNamedOnce) {
  std::vector<Provider> providers;
  ModelConfig config = Config("", "tensorrt");
  ASSERT_TRUE(ChooseProviders(config, kPlain, &providers).ok());
  EXPECT_TRUE(providers.empty());
  config.gpu_settings = {"optimization.priority", "cc_model_filenames"};
  EXPECT_EQ(LeftAsideOnCpu(config),
            "model 'm' runs on the CPU; left aside, being for GPUs: optimization.priority, "
            "cc_model_filenames, the Execution Accelerator 'tensorrt'");
  EXPECT_EQ(LeftAsideOnCpu(Config("")), "");
}

}  // namespace
}  // namespace nereid::onnxruntime
