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
  Accelerators chosen;
  ASSERT_TRUE(ChooseAccelerators(Config("openvino"), kOpenVino, &chosen).ok());
  ASSERT_EQ(chosen.providers.size(), 1u);
  EXPECT_EQ(chosen.providers[0].name, "OpenVINO");
  EXPECT_EQ(chosen.providers[0].options.at("num_of_threads"), "2");
}

TEST(AcceleratorsTest, OnesThatThisOnnxRuntimeLacks) {
  Accelerators chosen;
  const Error error = ChooseAccelerators(Config("xnnpack"), kPlain, &chosen);
  EXPECT_EQ(TRITONSERVER_ErrorCode(error.get()), TRITONSERVER_ERROR_UNSUPPORTED);
  EXPECT_EQ(error.message(),
            "model 'm': the Execution Accelerator 'xnnpack' is not in this ONNX Runtime, which "
            "has: CPUExecutionProvider; name a library that has it in NEREID_ONNXRUNTIME_LIBRARY, "
            "or remove it from optimization.execution_accelerators");
}

TEST(AcceleratorsTest, OpenVinoItselfWhereOnnxRuntimeLacksIt) {
  Accelerators chosen;
  const ModelConfig config = Config("openvino");
  ASSERT_TRUE(ChooseAccelerators(config, kPlain, &chosen).ok());
  EXPECT_TRUE(chosen.providers.empty());
  EXPECT_EQ(chosen.openvino, &config.cpu_accelerators[0]);
  ASSERT_TRUE(ChooseAccelerators(config, kOpenVino, &chosen).ok());
  EXPECT_EQ(chosen.openvino, nullptr);
}

TEST(AcceleratorsTest, UnknownOnes) {
  Accelerators chosen;
  EXPECT_EQ(ChooseAccelerators(Config("openvion"), kOpenVino, &chosen).message(),
            "model 'm': unknown Execution Accelerator 'openvion' is requested in "
            "optimization.execution_accelerators.cpu_execution_accelerator; the known ones are: "
            "openvino, xnnpack");
  EXPECT_EQ(ChooseAccelerators(Config("", "tensorflow"), kOpenVino, &chosen).message(),
            "model 'm': unknown Execution Accelerator 'tensorflow' is requested in "
            "optimization.execution_accelerators.gpu_execution_accelerator; the known ones are: "
            "tensorrt, cuda, rocm, migraphx");
}

TEST(AcceleratorsTest, WhatIsForGpusIsLeftAsideAndNamedOnce) {
  Accelerators chosen;
  ModelConfig config = Config("", "tensorrt");
  ASSERT_TRUE(ChooseAccelerators(config, kPlain, &chosen).ok());
  EXPECT_TRUE(chosen.providers.empty());
  config.gpu_settings = {"optimization.priority", "cc_model_filenames"};
  EXPECT_EQ(IgnoredOnCpu(config),
            "model 'm' runs on the CPU and ignores these settings for GPUs: optimization.priority, "
            "cc_model_filenames, the Execution Accelerator 'tensorrt'");
  EXPECT_EQ(IgnoredOnCpu(Config("")), "");
}

}  // namespace
}  // namespace nereid::onnxruntime
