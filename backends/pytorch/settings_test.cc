// SPDX-License-Identifier: Apache-2.0
#include "pytorch/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::pytorch {
namespace {

struct Settings {
  RunSettings run;
  ProcessSettings process;
  std::string error;
};

Settings Read(const backend::Parameters::Map& parameters, int64_t processors = 8,
              int64_t instances = 1) {
  backend::ModelConfig config;
  config.parameters = backend::Parameters("model 'm'", parameters);
  config.instance_count = instances;
  Settings settings;
  settings.error = ReadSettings(config, processors, &settings.run, &settings.process).message();
  return settings;
}

TEST(Settings, WithoutParameters) {
  const Settings settings = Read({});
  EXPECT_EQ(settings.error, "");
  EXPECT_TRUE(settings.run.optimized_execution);
  EXPECT_TRUE(settings.run.inference_mode);
  EXPECT_FALSE(settings.run.weight_sharing);
  EXPECT_EQ(settings.process.inter_op_threads, 0);
  EXPECT_FALSE(settings.process.jit_executor || settings.process.jit_profiling ||
               settings.process.tensor_fuser);
}

TEST(Settings, Flags) {
  const Settings settings = Read({{"DISABLE_OPTIMIZED_EXECUTION", "true"},
                                  {"INFERENCE_MODE", "0"},
                                  {"ENABLE_WEIGHT_SHARING", "TRUE"},
                                  {"ENABLE_JIT_EXECUTOR", "false"},
                                  {"ENABLE_JIT_PROFILING", "true"},
                                  {"ENABLE_TENSOR_FUSER", "false"},
                                  {"INTER_OP_THREAD_COUNT", "3"}});
  EXPECT_EQ(settings.error, "");
  EXPECT_FALSE(settings.run.optimized_execution);
  EXPECT_FALSE(settings.run.inference_mode);
  EXPECT_TRUE(settings.run.weight_sharing);
  EXPECT_EQ(settings.process.jit_executor, false);
  EXPECT_EQ(settings.process.jit_profiling, true);
  EXPECT_EQ(settings.process.tensor_fuser, false);
  EXPECT_EQ(settings.process.inter_op_threads, 3);
}

TEST(Settings, InstancesShareTheProcessors) {
  EXPECT_EQ(Read({}, 8, 1).run.intra_op_threads, 8);
  EXPECT_EQ(Read({}, 8, 3).run.intra_op_threads, 2);
  EXPECT_EQ(Read({}, 2, 5).run.intra_op_threads, 1);
}

TEST(Settings, TheModelsWordComesBeforeThePlan) {
  EXPECT_EQ(Read({{"cpu_threads_per_instance", "3"}}).run.intra_op_threads, 3);
  EXPECT_EQ(Read({{"cpu_threads_per_instance", "3"}, {"INTRA_OP_THREAD_COUNT", "5"}})
                .run.intra_op_threads,
            5);
}

TEST(Settings, WhatNeedsAGpuIsNoted) {
  EXPECT_THAT(
      Read({{"ENABLE_NVFUSER", "true"}, {"ENABLE_CACHE_CLEANING", "false"}, {"DISABLE_CUDNN", "1"}})
          .process.without_effect_on_cpu,
      testing::ElementsAre("ENABLE_NVFUSER", "DISABLE_CUDNN"));
}

TEST(Settings, OfAModelOnAGpu) {
  const Settings settings = Read(
      {{"ENABLE_NVFUSER", "true"}, {"ENABLE_CACHE_CLEANING", "true"}, {"DISABLE_CUDNN", "true"}});
  EXPECT_TRUE(settings.run.cache_cleaning);
  EXPECT_EQ(settings.process.cudnn, false);
  EXPECT_THAT(settings.process.without_effect, testing::ElementsAre("ENABLE_NVFUSER"));
}

TEST(Settings, WrongValuesAreNamed) {
  for (const char* name :
       {"DISABLE_OPTIMIZED_EXECUTION", "INFERENCE_MODE", "ENABLE_WEIGHT_SHARING",
        "ENABLE_JIT_EXECUTOR", "ENABLE_JIT_PROFILING", "ENABLE_TENSOR_FUSER", "ENABLE_NVFUSER",
        "ENABLE_CACHE_CLEANING", "INTRA_OP_THREAD_COUNT", "INTER_OP_THREAD_COUNT"}) {
    EXPECT_THAT(Read({{name, "many"}}).error, testing::HasSubstr(name));
  }
  EXPECT_NE(Read({{"INTRA_OP_THREAD_COUNT", "-1"}}).error, "");
  EXPECT_NE(Read({{"INTER_OP_THREAD_COUNT", "1025"}}).error, "");
}

}  // namespace
}  // namespace nereid::pytorch
