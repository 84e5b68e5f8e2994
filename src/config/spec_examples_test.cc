// SPDX-License-Identifier: Apache-2.0
// The configurations that the documentation of model configurations and of sequence scheduling
// shows: each is read, completed and accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/complete/complete.h"
#include "config/complete/instance_groups.h"
#include "config/parse/parse.h"
#include "config/rules/validate.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

using testing::ElementsAre;

// As on a machine with `gpu_count` GPUs, in strict mode; the directory has the model's name.
ModelConfigPtr Load(const std::string& text, int gpu_count = 0) {
  const auto parsed = ParseModelConfigText(text, "config.pbtxt");
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  if (!parsed.ok()) return nullptr;
  const auto completed = CompleteModelConfig(**parsed, {(*parsed)->name(), {{"1", {}}}});
  EXPECT_TRUE(completed.ok()) << completed.status().message();
  if (!completed.ok()) return nullptr;
  const auto poll =
      ValidateModelConfig(**completed, ValidateOptions::ForPoll(true, (*parsed)->name()));
  EXPECT_TRUE(poll.ok()) << poll.message();
  InstanceDefaults defaults;
  for (int i = 0; i < gpu_count; ++i) defaults.gpus.push_back(i);
  ModelConfigPtr config = CompleteInstanceGroups(**completed, defaults);
  const auto load = ValidateModelConfig(*config, ValidateOptions::ForLoad(gpu_count));
  EXPECT_TRUE(load.ok()) << load.message();
  return config;
}

constexpr char kMinimal[] = R"(
name: "mymodel"
platform: "tensorrt_plan"
max_batch_size: 8
input [
  {
    name: "input0"
    data_type: TYPE_FP32
    dims: [ 16 ]
  },
  {
    name: "input1"
    data_type: TYPE_FP32
    dims: [ 16 ]
  }
]
output [
  {
    name: "output0"
    data_type: TYPE_FP32
    dims: [ 16 ]
  }
]
)";

TEST(SpecExamples, Minimal) {
  const auto config = Load(kMinimal);
  ASSERT_NE(config, nullptr);
  EXPECT_EQ(config->backend(), "tensorrt");
  EXPECT_EQ(config->default_model_filename(), "model.plan");
  EXPECT_EQ(config->inputs().size(), 2u);
  EXPECT_EQ(std::get<LatestVersions>(config->version_policy()).count, 1u);
}

std::string WithBatchSize(int size) {
  return "name: \"mymodel\" platform: \"tensorrt_plan\" max_batch_size: " + std::to_string(size) +
         R"(
input [
  {
    name: "input0"
    data_type: TYPE_FP32
    dims: [ 16 ]
  }
]
output [
  {
    name: "output0"
    data_type: TYPE_FP32
    dims: [ 4 ]
  }
])";
}

TEST(SpecExamples, FullShapes) {
  const auto batching = Load(WithBatchSize(8));
  EXPECT_THAT(batching->FullShape(batching->inputs()[0]), ElementsAre(-1, 16));
  EXPECT_THAT(batching->FullShape(batching->outputs()[0]), ElementsAre(-1, 4));
  const auto single = Load(WithBatchSize(0));
  EXPECT_THAT(single->FullShape(single->inputs()[0]), ElementsAre(16));
  EXPECT_THAT(single->FullShape(single->outputs()[0]), ElementsAre(4));
}

TEST(SpecExamples, EveryPlatform) {
  for (const char* platform : {"tensorrt_plan", "tensorflow_graphdef", "tensorflow_savedmodel",
                               "caffe2_netdef", "onnxruntime_onnx", "pytorch_libtorch", "custom"}) {
    const auto config = Load("name: \"mymodel\" platform: \"" + std::string(platform) + "\"");
    ASSERT_NE(config, nullptr);
    EXPECT_EQ(config->platform(), platform);
    EXPECT_FALSE(config->backend().empty());
    EXPECT_FALSE(config->default_model_filename().empty());
  }
}

TEST(SpecExamples, Reshape) {
  const auto config = Load(R"(
name: "mymodel"
platform: "tensorrt_plan"
max_batch_size: 8
input [
  {
    name: "in"
    data_type: TYPE_FP32
    dims: [ 1 ]
    reshape: { shape: [ ] }
  }
]
output [
  {
    name: "in"
    data_type: TYPE_FP32
    dims: [ 1 ]
    reshape: { shape: [ ] }
  }
])");
  EXPECT_EQ(config->inputs()[0].reshape, tensor::Shape{});
  EXPECT_EQ(config->outputs()[0].reshape, tensor::Shape{});
}

TEST(SpecExamples, ShapeTensor) {
  const auto config = Load(R"(
name: "myshapetensormodel"
platform: "tensorrt_plan"
max_batch_size: 8
input [
  {
    name: "input0"
    data_type: TYPE_FP32
    dims: [ -1 ]
  },
  {
    name: "input1"
    data_type: TYPE_INT32
    dims: [ 1 ]
    is_shape_tensor: true
  }
]
output [
  {
    name: "output0"
    data_type: TYPE_FP32
    dims: [ -1 ]
  }
])");
  EXPECT_THAT(config->FullShape(*config->FindInput("input0")), ElementsAre(-1, -1));
  EXPECT_THAT(config->FullShape(*config->FindInput("input1")), ElementsAre(1));
}

TEST(SpecExamples, AllVersions) {
  const auto config = Load(std::string(kMinimal) + "version_policy: { all { }}");
  EXPECT_TRUE(std::holds_alternative<AllVersions>(config->version_policy()));
}

TEST(SpecExamples, InstanceGroups) {
  const auto every = Load(std::string(kMinimal) + R"(
instance_group [
  {
    count: 2
    kind: KIND_GPU
  }
])",
                          3);
  EXPECT_THAT(every->instance_groups().at(0).gpus, ElementsAre(0, 1, 2));
  EXPECT_EQ(every->instance_groups().at(0).count, 2);
  const auto chosen = Load(std::string(kMinimal) + R"(
instance_group [
  {
    count: 1
    kind: KIND_GPU
    gpus: [ 0 ]
  },
  {
    count: 2
    kind: KIND_GPU
    gpus: [ 1, 2 ]
  }
])",
                           3);
  EXPECT_THAT(chosen->instance_groups().at(0).gpus, ElementsAre(0));
  EXPECT_THAT(chosen->instance_groups().at(1).gpus, ElementsAre(1, 2));
  EXPECT_EQ(chosen->instance_groups().at(1).name, "mymodel_1");
  const auto cpu = Load(std::string(kMinimal) + R"(
instance_group [
  {
    count: 2
    kind: KIND_CPU
  }
])",
                        3);
  EXPECT_EQ(cpu->instance_groups().at(0).kind, InstanceKind::kCpu);
  EXPECT_EQ(cpu->instance_groups().at(0).count, 2);
}

TEST(SpecExamples, DynamicBatching) {
  const auto config = Load(std::string(kMinimal) + R"(
dynamic_batching {
  preferred_batch_size: [ 4, 8 ]
  max_queue_delay_microseconds: 100
})");
  EXPECT_THAT(config->dynamic_batching()->preferred_batch_sizes, ElementsAre(4, 8));
  EXPECT_EQ(config->dynamic_batching()->max_queue_delay_us, 100u);
}

constexpr char kStatefulTensors[] = R"(
input [
  {
    name: "INPUT"
    data_type: TYPE_FP32
    dims: [ 100, 100 ]
  }
]
output [
  {
    name: "OUTPUT"
    data_type: TYPE_FP32
    dims: [ 10 ]
  }
]
instance_group [
  {
    count: 2
  }
])";

TEST(SpecExamples, DirectSequences) {
  const auto config = Load(std::string(R"(
name: "direct_stateful_model"
platform: "tensorrt_plan"
max_batch_size: 2
sequence_batching {
  max_sequence_idle_microseconds: 5000000
  direct { }
  control_input [
    {
      name: "START"
      control [
        {
          kind: CONTROL_SEQUENCE_START
          fp32_false_true: [ 0, 1 ]
        }
      ]
    },
    {
      name: "READY"
      control [
        {
          kind: CONTROL_SEQUENCE_READY
          fp32_false_true: [ 0, 1 ]
        }
      ]
    }
  ]
})") + kStatefulTensors);
  EXPECT_TRUE(config->sequence_batching().has_value());
  EXPECT_TRUE(config->proto().sequence_batching().has_direct());
  EXPECT_EQ(config->proto().sequence_batching().max_sequence_idle_microseconds(), 5000000u);
}

TEST(SpecExamples, OldestSequences) {
  const auto config = Load(std::string(R"(
name: "oldest_stateful_model"
platform: "tensorflow_savedmodel"
max_batch_size: 2
sequence_batching {
  max_sequence_idle_microseconds: 5000000
  oldest
    {
      max_candidate_sequences: 4
    }
  control_input [
    {
      name: "START"
      control [ { kind: CONTROL_SEQUENCE_START fp32_false_true: [ 0, 1 ] } ]
    },
    {
      name: "END"
      control [ { kind: CONTROL_SEQUENCE_END fp32_false_true: [ 0, 1 ] } ]
    },
    {
      name: "CORRID"
      control [ { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 } ]
    }
  ]
})") + kStatefulTensors);
  EXPECT_EQ(config->backend(), "tensorflow");
  EXPECT_EQ(config->default_model_filename(), "model.savedmodel");
  EXPECT_THAT(config->proto().sequence_batching().oldest().preferred_batch_size(), ElementsAre(2));
}

TEST(SpecExamples, ImplicitStates) {
  for (const char* initial :
       {"",
        "initial_state: { data_type: TYPE_INT32 dims: [ 1 ] zero_data: true name: \"initial "
        "state\" }",
        "initial_state: { data_type: TYPE_INT32 dims: [ 1 ] data_file: \"initial_state_data\" "
        "name: "
        "\"initial state\" }"}) {
    const auto config = Load(std::string(kMinimal) + R"(
sequence_batching {
  state [
    {
      input_name: "INPUT_STATE"
      output_name: "OUTPUT_STATE"
      data_type: TYPE_INT32
      dims: [ -1 ]
      )" + initial + R"(
    }
  ]
})");
    ASSERT_NE(config, nullptr);
    EXPECT_EQ(config->proto().sequence_batching().state_size(), 1);
    EXPECT_EQ(config->FindInput("INPUT_STATE"), nullptr);
  }
}

}  // namespace
}  // namespace nereid::config
