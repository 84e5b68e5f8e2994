// SPDX-License-Identifier: Apache-2.0
// Each folder testdata/described/<model> contains a configuration and the JSON that a client
// receives after its completion.
#include "config/describe/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "config/complete/complete.h"
#include "config/complete/instance_groups.h"
#include "config/parse/parse.h"
#include "config/testing/testdata.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

class DescribeTest : public testing::TestWithParam<std::string> {
 protected:
  static std::string Read(const std::string& file) {
    const auto content = base::ReadFile(TestData("described/" + GetParam() + "/" + file));
    EXPECT_TRUE(content.ok()) << content.status().message();
    return content.ok() ? *content : "";
  }

  static ModelConfigPtr Completed() {
    const auto parsed = ParseModelConfigText(Read("config.pbtxt"), GetParam());
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    const auto completed = CompleteModelConfig(**parsed, {GetParam(), {{"1", {}}}});
    EXPECT_TRUE(completed.ok()) << completed.status().message();
    return CompleteInstanceGroups(**completed, {});
  }
};

TEST_P(DescribeTest, PrintsWhatClientsKnow) {
  EXPECT_EQ(DescribeModelConfigJson(*Completed()) + "\n", Read("config.json"));
}

TEST_P(DescribeTest, IsReadBackAsTheSame) {
  const ModelConfigPtr config = Completed();
  const std::string json = DescribeModelConfigJson(*config);
  const auto again = ParseModelConfigJson(json);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(DescribeModelConfigJson(**again), json);
}

INSTANTIATE_TEST_SUITE_P(Models, DescribeTest,
                         testing::Values("minimal", "dynamic", "full", "ensemble"),
                         [](const auto& info) { return info.param; });

TEST(Describe, PrintsAwkwardValues) {
  inference::ModelConfig proto;
  proto.set_name("a\"\\\n\b\f\x01\x1f</é");
  auto* control = proto.mutable_sequence_batching()->add_control_input()->add_control();
  control->add_fp32_false_true(1e30f);
  control->add_fp32_false_true(-0.1f);
  control->add_fp32_false_true(std::numeric_limits<float>::infinity());
  control->add_fp32_false_true(std::numeric_limits<float>::quiet_NaN());
  proto.add_input()->set_data_type(static_cast<inference::DataType>(77));
  const std::string json = DescribeModelConfigJson(*ModelConfig::Create(proto));
  EXPECT_THAT(json, testing::HasSubstr(R"("name":"a\"\\\n\b\f\u0001\u001F</é")"));
  EXPECT_THAT(json, testing::HasSubstr(R"("fp32_false_true":[1e+30,-0.1,"Infinity","NaN"])"));
  EXPECT_THAT(json, testing::HasSubstr(R"("data_type":77)"));
}

}  // namespace
}  // namespace nereid::config
