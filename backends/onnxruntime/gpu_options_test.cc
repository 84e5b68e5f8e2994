// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/gpu_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::onnxruntime {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

ModelConfig Config(const ProviderOptions& parameters, const ProviderOptions& accelerator = {}) {
  ModelConfig config;
  config.name = "m";
  config.parameters = backend::Parameters("model 'm'", {parameters.begin(), parameters.end()});
  if (!accelerator.empty()) {
    config.gpu_accelerators.push_back({"cuda", accelerator});
  }
  return config;
}

TEST(CudaOptionsTest, TritonsNumbersBecomeNames) {
  ProviderOptions options;
  const ModelConfig config = Config({{"cudnn_conv_algo_search", "1"},
                                     {"gpu_mem_limit", "4294967200"},
                                     {"arena_extend_strategy", "1"},
                                     {"do_copy_in_default_stream", "0"},
                                     {"unrelated", "x"}});
  ASSERT_TRUE(CudaOptions(config, 3, &options).ok());
  EXPECT_THAT(options, ElementsAre(Pair("arena_extend_strategy", "kSameAsRequested"),
                                   Pair("cudnn_conv_algo_search", "HEURISTIC"),
                                   Pair("device_id", "3"), Pair("do_copy_in_default_stream", "0"),
                                   Pair("gpu_mem_limit", "4294967200")));
}

TEST(CudaOptionsTest, ParametersOfTheAcceleratorTakePrecedenceAndArePassedOn) {
  ProviderOptions options;
  const ModelConfig config =
      Config({{"cudnn_conv_algo_search", "0"}},
             {{"cudnn_conv_algo_search", "DEFAULT"}, {"device_id", "7"}, {"use_tf32", "0"}});
  ASSERT_TRUE(CudaOptions(config, 0, &options).ok());
  EXPECT_THAT(options, ElementsAre(Pair("cudnn_conv_algo_search", "DEFAULT"),
                                   Pair("device_id", "0"), Pair("use_tf32", "0")));
}

TEST(CudaOptionsTest, InvalidValuesAreNamed) {
  ProviderOptions options;
  EXPECT_EQ(CudaOptions(Config({{"cudnn_conv_algo_search", "3"}}), 0, &options).message(),
            "model 'm': parameter 'cudnn_conv_algo_search' is '3', but must be one of "
            "0 (EXHAUSTIVE), 1 (HEURISTIC), 2 (DEFAULT)");
  EXPECT_EQ(CudaOptions(Config({{"do_copy_in_default_stream", "yes"}}), 0, &options).message(),
            "model 'm': parameter 'do_copy_in_default_stream' is 'yes', but must be one of 0, 1");
  EXPECT_EQ(CudaOptions(Config({{"gpu_mem_limit", "-1"}}), 0, &options).message(),
            "model 'm': parameter 'gpu_mem_limit' is '-1', but must be a number of bytes");
}

TEST(TensorRtOptionsTest, TritonsParametersAndThoseOfOnnxRuntime) {
  ProviderOptions options;
  const ModelConfig config = Config({});
  ASSERT_TRUE(TensorRtOptions(config,
                              {{"precision_mode", "FP16"},
                               {"max_workspace_size_bytes", "1073741824"},
                               {"trt_engine_cache_enable", "1"}},
                              1, &options)
                  .ok());
  EXPECT_THAT(options, ElementsAre(Pair("device_id", "1"), Pair("trt_engine_cache_enable", "1"),
                                   Pair("trt_fp16_enable", "1"),
                                   Pair("trt_max_workspace_size", "1073741824")));
  EXPECT_EQ(TensorRtOptions(config, {{"precision_mode", "FP8"}}, 0, &options).message(),
            "model 'm': parameter 'precision_mode' is 'FP8', but must be FP32, FP16 or INT8");
  EXPECT_EQ(TensorRtOptions(config, {{"presicion_mode", "FP16"}}, 0, &options).message(),
            "model 'm': unknown parameter 'presicion_mode' of the Execution Accelerator "
            "'tensorrt'");
}

}  // namespace
}  // namespace nereid::onnxruntime
