// SPDX-License-Identifier: Apache-2.0
#include "openvino/settings.h"

#include <gtest/gtest.h>

#include <openvino/runtime/properties.hpp>
#include <utility>

namespace nereid::openvino {
namespace {

backend::ModelConfig Config(backend::Parameters::Map parameters, int64_t instances = 1) {
  backend::ModelConfig config;
  config.name = "m";
  config.max_batch_size = 4;
  config.instance_count = instances;
  config.parameters = backend::Parameters("model 'm'", std::move(parameters));
  return config;
}

Settings Read(backend::Parameters::Map parameters, int64_t instances = 1) {
  Settings settings;
  const Error error = ReadSettings(Config(std::move(parameters), instances), &settings);
  EXPECT_EQ(error.message(), "");
  return settings;
}

std::string Refusal(const std::string& key, const std::string& value) {
  Settings settings;
  return ReadSettings(Config({{key, value}}), &settings).message();
}

template <typename Property>
auto Value(const Settings& settings, const Property& property) {
  return settings.properties.at(property.name()).template as<typename Property::value_type>();
}

TEST(SettingsTest, WithoutParameters) {
  const Settings settings = Read({}, 3);
  EXPECT_EQ(settings.device, "CPU");
  EXPECT_EQ(Value(settings, ov::num_streams).num, 3);
  EXPECT_FALSE(Value(settings, ov::hint::enable_cpu_pinning));
  EXPECT_EQ(settings.properties.count("INFERENCE_NUM_THREADS"), 0u);
  EXPECT_EQ(settings.properties.count("INFERENCE_PRECISION_HINT"), 0u);
  EXPECT_FALSE(settings.fixed_batch || settings.pad_batch || settings.reshape);
}

TEST(SettingsTest, ThreadsComeFromTheServersPlanUnlessTheModelSaysSo) {
  EXPECT_EQ(Value(Read({{"cpu_threads_per_instance", "2"}}, 3), ov::inference_num_threads), 6);
  EXPECT_EQ(Value(Read({{"cpu_threads_per_instance", "2"}, {"INFERENCE_NUM_THREADS", "5"}}),
                  ov::inference_num_threads),
            5);
  EXPECT_EQ(Value(Read({{"CPU_THREADS_NUM", "7"}}), ov::inference_num_threads), 7);
}

TEST(SettingsTest, ThreadsVaryUnlessTheModelSaysSomethingAboutThem) {
  EXPECT_FALSE(Read({}).varies);
  const Settings settings = Read({{"cpu_threads_vary", "true"}, {"cpu_threads_per_instance", "2"}});
  EXPECT_TRUE(settings.varies);
  for (const char* key : {"INFERENCE_NUM_THREADS", "NUM_STREAMS"}) {
    EXPECT_FALSE(Read({{"cpu_threads_vary", "true"}, {key, "2"}}).varies) << key;
  }
  const auto shape = [&](int64_t threads, int64_t instances) {
    Settings of;
    of.properties = ForThreads(settings, threads, instances, 16);
    return std::pair(Value(of, ov::num_streams).num, Value(of, ov::inference_num_threads));
  };
  EXPECT_EQ(shape(1, 3), std::pair(3, 3));
  EXPECT_EQ(shape(4, 3), std::pair(3, 12));
  EXPECT_EQ(shape(16, 3), std::pair(1, 16));
  EXPECT_EQ(shape(64, 3), std::pair(1, 64));
}

TEST(SettingsTest, Streams) {
  EXPECT_EQ(Value(Read({{"NUM_STREAMS", "4"}}), ov::num_streams).num, 4);
  EXPECT_EQ(Value(Read({{"NUM_STREAMS", "auto"}}), ov::num_streams), ov::streams::AUTO);
  EXPECT_EQ(Value(Read({{"CPU_THROUGHPUT_STREAMS", "NUMA"}}), ov::num_streams), ov::streams::NUMA);
  const Settings hinted = Read({{"PERFORMANCE_HINT", "throughput"}});
  EXPECT_EQ(hinted.properties.count(ov::num_streams.name()), 0u);
  EXPECT_EQ(hinted.properties.at("PERFORMANCE_HINT").as<std::string>(), "THROUGHPUT");
}

TEST(SettingsTest, TheOthers) {
  const Settings settings = Read({{"HINT_BF16", "yes"},
                                  {"CPU_BIND_THREAD", "YES"},
                                  {"SKIP_OV_DYNAMIC_BATCHSIZE", "YES"},
                                  {"ENABLE_BATCH_PADDING", "true"},
                                  {"RESHAPE_IO_LAYERS", "1"},
                                  {"COMPILATION_NUM_THREADS", "2"},
                                  {"TARGET_DEVICE", "AUTO"},
                                  {"EXECUTION_MODE_HINT", "ACCURACY"}});
  EXPECT_EQ(Value(settings, ov::hint::inference_precision), ov::element::bf16);
  EXPECT_TRUE(Value(settings, ov::hint::enable_cpu_pinning));
  EXPECT_TRUE(settings.fixed_batch && settings.pad_batch && settings.reshape);
  EXPECT_EQ(settings.ignored, std::vector<std::string>{"COMPILATION_NUM_THREADS"});
  EXPECT_EQ(settings.device, "AUTO");
  EXPECT_EQ(settings.properties.at("EXECUTION_MODE_HINT").as<std::string>(), "ACCURACY");
  EXPECT_EQ(Value(Read({{"HINT_BF16", "NO"}}), ov::hint::inference_precision), ov::element::f32);
}

TEST(SettingsTest, WrongValuesNameTheKeyAndWhatItTakes) {
  EXPECT_EQ(Refusal("NUM_STREAMS", "many"),
            "model 'm': parameter 'NUM_STREAMS' is 'many', but must be AUTO, NUMA or an integer "
            "from 1 to 1024");
  EXPECT_EQ(Refusal("PERFORMANCE_HINT", "FAST"),
            "model 'm': parameter 'PERFORMANCE_HINT' is 'FAST', but must be LATENCY, THROUGHPUT or "
            "CUMULATIVE_THROUGHPUT");
  EXPECT_EQ(Refusal("RESHAPE_IO_LAYERS", "perhaps"),
            "model 'm': parameter 'RESHAPE_IO_LAYERS' is 'perhaps', but must be YES or NO");
  EXPECT_EQ(Refusal("CPU_BIND_THREAD", "perhaps"),
            "model 'm': parameter 'CPU_BIND_THREAD' is 'perhaps', but must be YES, NUMA or NO");
  EXPECT_EQ(Refusal("INFERENCE_NUM_THREADS", "99999"),
            "model 'm': parameter 'INFERENCE_NUM_THREADS' is '99999', but must be an integer from "
            "0 to 1024");
}

TEST(AcceleratorSettingsTest, NamesOfOnnxRuntimesProvider) {
  Settings settings;
  const backend::Parameters given("a", {{"num_of_threads", "2"},
                                        {"num_streams", "3"},
                                        {"precision", "bf16"},
                                        {"device_type", "CPU_FP32"}});
  ASSERT_TRUE(ReadAcceleratorSettings(Config({}), given, &settings).ok());
  EXPECT_EQ(settings.device, "CPU");
  EXPECT_EQ(Value(settings, ov::inference_num_threads), 2);
  EXPECT_EQ(Value(settings, ov::num_streams).num, 3);
  EXPECT_EQ(Value(settings, ov::hint::inference_precision), ov::element::bf16);
}

TEST(AcceleratorSettingsTest, FP32StaysFP32) {
  Settings settings;
  ASSERT_TRUE(ReadAcceleratorSettings(Config({}), backend::Parameters(), &settings).ok());
  EXPECT_EQ(Value(settings, ov::hint::inference_precision), ov::element::f32);
}

TEST(AcceleratorSettingsTest, UnknownOnes) {
  Settings settings;
  EXPECT_EQ(
      ReadAcceleratorSettings(Config({}), backend::Parameters("a", {{"threads", "2"}}), &settings)
          .message(),
      "model 'm': the Execution Accelerator 'openvino' has no parameter 'threads'; it has: "
      "device_type, num_of_threads, num_streams, precision");
}

}  // namespace
}  // namespace nereid::openvino
