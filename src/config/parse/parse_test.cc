// SPDX-License-Identifier: Apache-2.0
#include "config/parse/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model_config.pb.h"

namespace nereid::config {
namespace {

using testing::HasSubstr;

std::string TextError(const std::string& text) {
  const auto result = ParseModelConfigText(text, "models/m/config.pbtxt");
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), base::StatusCode::kInternal);
  return result.status().message();
}

std::string JsonError(const std::string& json) {
  const auto result = ParseModelConfigJson(json);
  EXPECT_FALSE(result.ok()) << json;
  EXPECT_EQ(result.status().code(), base::StatusCode::kInvalidArgument);
  return result.status().message();
}

TEST(ParseText, ReadsTheWholeConfiguration) {
  const auto result = ParseModelConfigText(R"(
    name: "m" platform: "onnxruntime_onnx" max_batch_size: 8
    input [
      { name: "a" data_type: TYPE_FP32 dims: [ 3, -1 ] reshape { shape: [ -1, 3 ] } },
      { name: "b" data_type: TYPE_STRING dims: [ 1 ] optional: true allow_ragged_batch: true }
    ]
    output [ { name: "c" data_type: TYPE_BF16 dims: [ 1 ] reshape { shape: [ ] }
               label_filename: "labels.txt" } ]
    dynamic_batching {
      preferred_batch_size: [ 4, 8 ] max_queue_delay_microseconds: 100 preserve_ordering: true
      priority_levels: 2 default_priority_level: 1
      default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 7 }
      priority_queue_policy { key: 2 value { max_queue_size: 5 allow_timeout_override: true } }
    }
    instance_group [ { name: "g" kind: KIND_GPU count: 2 gpus: [ 0, 1 ] passive: true
                       host_policy: "h" profile: [ "1" ]
                       rate_limiter { priority: 3 resources [ { name: "r" count: 4 } ] } } ]
    version_policy { specific { versions: [ 3, 1 ] } }
    parameters { key: "k" value { string_value: "v" } }
    metric_tags { key: "team" value: "x" }
    model_transaction_policy { decoupled: true }
    response_cache { enable: true })",
                                           "config.pbtxt");
  ASSERT_TRUE(result.ok()) << result.status().message();
  const ModelConfig& config = **result;
  EXPECT_EQ(config.name(), "m");
  EXPECT_EQ(config.max_batch_size(), 8);
  ASSERT_EQ(config.inputs().size(), 2u);
  EXPECT_EQ(config.required_input_count(), 1u);
  const TensorSpec* a = config.FindInput("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->data_type, tensor::DataType::kFp32);
  EXPECT_EQ(a->dims, (tensor::Shape{3, -1}));
  EXPECT_EQ(a->reshape, (tensor::Shape{-1, 3}));
  EXPECT_EQ(config.FullShape(*a), (tensor::Shape{-1, 3, -1}));
  EXPECT_TRUE(config.FindInput("b")->optional);
  EXPECT_TRUE(config.FindInput("b")->allow_ragged_batch);
  EXPECT_EQ(config.FindInput("b")->data_type, tensor::DataType::kBytes);
  EXPECT_EQ(config.FindInput("c"), nullptr);
  const TensorSpec* c = config.FindOutput("c");
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(c->reshape, tensor::Shape{});
  EXPECT_EQ(c->label_filename, "labels.txt");
  ASSERT_TRUE(config.dynamic_batching().has_value());
  const DynamicBatchingOptions& batching = *config.dynamic_batching();
  EXPECT_EQ(batching.preferred_batch_sizes, (std::vector<int32_t>{4, 8}));
  EXPECT_EQ(batching.max_queue_delay_us, 100u);
  EXPECT_TRUE(batching.preserve_ordering);
  EXPECT_EQ(batching.default_queue_policy.timeout_action, QueuePolicy::TimeoutAction::kDelay);
  EXPECT_EQ(batching.default_queue_policy.default_timeout_us, 7u);
  EXPECT_EQ(batching.priority_queue_policies.at(2).max_queue_size, 5u);
  EXPECT_TRUE(batching.priority_queue_policies.at(2).allow_timeout_override);
  ASSERT_EQ(config.instance_groups().size(), 1u);
  const InstanceGroup& group = config.instance_groups()[0];
  EXPECT_EQ(group.kind, InstanceKind::kGpu);
  EXPECT_EQ(group.gpus, (std::vector<int32_t>{0, 1}));
  EXPECT_TRUE(group.passive);
  EXPECT_EQ(group.host_policy, "h");
  EXPECT_EQ(group.profiles, std::vector<std::string>{"1"});
  EXPECT_EQ(group.rate_limiter_priority, 3u);
  EXPECT_EQ(group.rate_limiter_resources.at(0).count, 4u);
  EXPECT_EQ(std::get<SpecificVersions>(config.version_policy()).versions,
            (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(*config.FindParameter("k"), "v");
  EXPECT_EQ(config.FindParameter("other"), nullptr);
  EXPECT_EQ(config.metric_tags().at("team"), "x");
  EXPECT_TRUE(config.decoupled());
  EXPECT_TRUE(config.response_cache_enabled());
  EXPECT_FALSE(config.is_ensemble());
}

TEST(ParseText, FindsTensorsAmongMany) {
  std::string text = "name: \"m\"\n";
  for (int i = 0; i < 40; ++i) text += "input { name: \"in" + std::to_string(i) + "\" dims: 1 }\n";
  text += "input { name: \"in7\" dims: 2 }\n";
  const auto config = ParseModelConfigText(text, "p");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ((*config)->FindInput("in39"), &(*config)->inputs()[39]);
  EXPECT_EQ((*config)->FindInput("in7"), &(*config)->inputs()[7]);
  EXPECT_EQ((*config)->FindInput("in40"), nullptr);
  EXPECT_EQ((*config)->FindInput(""), nullptr);
}

TEST(ParseText, NamesThePlaceAndTheNearestField) {
  const std::string message = TextError("name: \"m\"\ninputs [ ]\n");
  EXPECT_THAT(message, HasSubstr("failed to read text proto from models/m/config.pbtxt"));
  EXPECT_THAT(message, HasSubstr("line 2, column "));
  EXPECT_THAT(message, HasSubstr("has no field named \"inputs\""));
  EXPECT_THAT(message, HasSubstr("Did you mean 'input'?"));
}

TEST(ParseText, NamesTheNearestFieldOfANestedMessage) {
  EXPECT_THAT(TextError("dynamic_batching { prefered_batch_sizes: 4 }"),
              HasSubstr("Did you mean 'preferred_batch_size'?"));
}

TEST(ParseText, NamesTheNearestEnumValue) {
  EXPECT_THAT(TextError("input [ { name: \"a\" data_type: TYPE_FP23 } ]"),
              HasSubstr("Did you mean 'TYPE_FP32'?"));
  EXPECT_THAT(TextError("instance_group [ { kind: CPU } ]"), HasSubstr("Did you mean 'KIND_CPU'?"));
}

TEST(ParseText, NamesWhatIsBehindTheParsersWords) {
  EXPECT_THAT(TextError("max_batch_size: ${batch}"),
              HasSubstr("line 1, column 17: the placeholder '${batch}' is not filled in. The file "
                        "is a template that was not filled in"));
  EXPECT_THAT(TextError("preferred_batch_size: 4"),
              HasSubstr("It belongs into dynamic_batching { }."));
  EXPECT_THAT(TextError("unknown: 4\nmax_batch_size: ${batch}"), HasSubstr("line 1, column 1: "));
}

TEST(ParseText, SuggestsNothingFarFetched) {
  EXPECT_THAT(TextError("zzzzqqqq: 1"), testing::Not(HasSubstr("Did you mean")));
}

TEST(ParseText, RefusesHostileText) {
  EXPECT_THAT(TextError("name: \"m"), HasSubstr("line 1"));
  EXPECT_THAT(TextError("name: \"\\377\""), HasSubstr("'name' is not valid UTF-8"));
  EXPECT_THAT(TextError("parameters { key: \"a\" value { string_value: \"\\300\\200\" } }"),
              HasSubstr("'string_value' is not valid UTF-8"));
  EXPECT_THAT(TextError("max_batch_size: 99999999999"), HasSubstr("line 1"));
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "input { ";
  TextError(deep);
  TextError(std::string(33 << 20, ' '));
}

TEST(ParseJson, ReadsOverrides) {
  const auto result = ParseModelConfigJson(R"({"name":"m","maxBatchSize":4,"backend":"identity",
    "input":[{"name":"a","data_type":"type_fp32","dims":["3",-1]}],
    "instance_group":[{"kind":"kind_cpu","count":2}],
    "dynamic_batching":{"max_queue_delay_microseconds":"100"},
    "parameters":{"k":{"string_value":"v"}}})");
  ASSERT_TRUE(result.ok()) << result.status().message();
  const ModelConfig& config = **result;
  EXPECT_EQ(config.max_batch_size(), 4);
  EXPECT_EQ(config.inputs().at(0).data_type, tensor::DataType::kFp32);
  EXPECT_EQ(config.inputs().at(0).dims, (tensor::Shape{3, -1}));
  EXPECT_EQ(config.instance_groups().at(0).kind, InstanceKind::kCpu);
  EXPECT_EQ(config.dynamic_batching()->max_queue_delay_us, 100u);
}

TEST(ParseJson, RefusesWhatIsNoConfiguration) {
  EXPECT_THAT(JsonError(R"({"nam":"m"})"), HasSubstr("nam"));
  JsonError("");
  JsonError("null");
  JsonError("[]");
  JsonError("{");
  JsonError("{} {}");
  JsonError(R"({"max_batch_size":"x"})");
  JsonError(R"({"max_batch_size":99999999999})");
  for (const char* number :
       {"1e90", "-1e90", "9223372036854775808", "-1e19", "18446744073709551616", "1.5", "1e-3"}) {
    const std::string value = number;
    JsonError(R"({"max_batch_size":)" + value + "}");
    JsonError(R"({"input":[{"dims":[)" + value + "]}]}");
    JsonError(R"({"version_policy":{"specific":{"versions":[)" + value + "]}}}");
  }
  JsonError(R"({"dynamic_batching":{"max_queue_delay_microseconds":18446744073709551616}})");
  JsonError(R"({"dynamic_batching":{"max_queue_delay_microseconds":-1}})");
  JsonError(R"({"input":[{"data_type":"TYPE_FP23"}]})");
  JsonError(std::string("{\"name\":\"\xff\"}"));
  std::string deep = "{\"input\":";
  for (int i = 0; i < 100000; ++i) deep += '[';
  JsonError(deep);
}

}  // namespace
}  // namespace nereid::config
