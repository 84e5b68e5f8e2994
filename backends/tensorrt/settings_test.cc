// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/settings.h"

#include <gtest/gtest.h>

namespace nereid::tensorrt {
namespace {

Settings Read(const std::string& json) {
  rapidjson::Document document;
  document.Parse(json.c_str());
  EXPECT_FALSE(document.HasParseError()) << json;
  Settings settings;
  EXPECT_EQ(ReadSettings(document, backend::Parameters(), &settings).message(), "");
  return settings;
}

TEST(TensorRtSettings, Defaults) {
  const Settings settings = Read("{}");
  EXPECT_EQ(settings.context_memory, ContextMemory::kStatic);
  EXPECT_EQ(settings.first_gpu, 0);
  EXPECT_EQ(settings.first_dla_core, -1);
  EXPECT_TRUE(settings.profiles.empty());
  EXPECT_FALSE(settings.graphs || settings.busy_wait || settings.output_stream);
  EXPECT_EQ(settings.priority, 0);
}

TEST(TensorRtSettings, TheProfilesOfAllGroups) {
  EXPECT_EQ(
      Read(R"({"instance_group":[{"profile":["2","1"],"gpus":[3]},{"profile":["1"]}]})").profiles,
      (std::vector<std::string>{"2", "1"}));
  // A group without profiles uses the first one.
  const Settings settings = Read(R"({"instance_group":[{"profile":["2"],"gpus":[3]},{}]})");
  EXPECT_EQ(settings.profiles, (std::vector<std::string>{"2", "0"}));
  EXPECT_EQ(settings.first_gpu, 3);
}

TEST(TensorRtSettings, Optimization) {
  const Settings settings = Read(R"({"optimization":{"priority":"PRIORITY_MIN","cuda":{
      "graphs":true,"busy_wait_events":true,"output_copy_stream":true,"graph_spec":[
        {"batch_size":4,"input":{"x":{"dim":["5",6]}},
         "graph_lower_bound":{"batch_size":2,"input":{"x":{"dim":["5"]}}}}, {}]}}})");
  EXPECT_EQ(settings.priority, -1);
  EXPECT_TRUE(settings.graphs && settings.busy_wait && settings.output_stream);
  ASSERT_EQ(settings.graph_specs.size(), 2U);
  EXPECT_EQ(settings.graph_specs[0].shapes.batch_size, 4);
  EXPECT_EQ(settings.graph_specs[0].shapes.inputs.at("x"), (std::vector<int64_t>{5, 6}));
  ASSERT_TRUE(settings.graph_specs[0].lower.has_value());
  EXPECT_EQ(settings.graph_specs[0].lower->batch_size, 2);
  EXPECT_FALSE(settings.graph_specs[1].lower.has_value());
}

TEST(TensorRtSettings, OfTheBackend) {
  BackendOptions options;
  const backend::Parameters given("backend 'tensorrt'", {{"plugins", "a.so;;/b/c.so"},
                                                         {"version-compatible", "true"},
                                                         {"coalesce-request-input", "1"},
                                                         {"execution-policy", "BLOCKING"}});
  EXPECT_TRUE(ReadBackendOptions(given, &options).ok());
  EXPECT_EQ(options.plugins, (std::vector<std::string>{"a.so", "/b/c.so"}));
  EXPECT_TRUE(options.host_code && options.coalesce_inputs);
  EXPECT_FALSE(options.one_launcher);
}

}  // namespace
}  // namespace nereid::tensorrt
