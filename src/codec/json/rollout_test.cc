// SPDX-License-Identifier: Apache-2.0
#include "codec/json/rollout.h"

#include <gtest/gtest.h>

#include <utility>

namespace nereid::codec::json {
namespace {

constexpr char kWhole[] =
    R"({"labels":{"stable":1,"canary":2},)"
    R"("split":{"key":"header:x-user","weights":{"stable":9500,"canary":500}},)"
    R"("shadow":{"version":"3","parts":1000,"max_in_flight":4,)"
    R"("tolerances":{"FP32":{"absolute":0.5,"relative":0.25}}},)"
    R"("rollback":{"version":"canary","window_seconds":30,"min_requests":50,)"
    R"("max_error_parts":200,"max_latency_us":50000,"latency_parts":9900,"labels":"keep",)"
    R"("open_sequences":"finish","count_invalid_requests":true}})";

TEST(RolloutJson, APlanCanBeReadAndWritten) {
  auto plan = DecodeRolloutPlan(kWhole);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_TRUE(rollout::CompletePlan(&*plan).ok());
  EXPECT_EQ(plan->labels[1], (std::pair<std::string, int64_t>("canary", 2)));
  EXPECT_EQ(plan->split->key, rollout::SplitKey::kHeader);
  EXPECT_EQ(plan->split->weights[1].parts, 500u);
  EXPECT_EQ(plan->shadow->target.version, 3);
  EXPECT_EQ(plan->shadow->tolerances.at(tensor::DataType::kFp32).relative, 0.25);
  EXPECT_EQ(plan->rollback->max_error_parts, 200u);
  EXPECT_EQ(plan->rollback->max_latency_us, 50'000u);
  EXPECT_FALSE(plan->rollback->redirects_labels);
  EXPECT_FALSE(plan->rollback->ends_sequences);
  EXPECT_TRUE(plan->rollback->counts_invalid);
  rollout::RolloutStatus status;
  status.plan = *plan;
  EXPECT_NE(EncodeRolloutStatus(status).find(std::string("\"plan\":") + kWhole), std::string::npos)
      << EncodeRolloutStatus(status);
}

TEST(RolloutJson, NumbersMayNameVersions) {
  const auto plan = DecodeRolloutPlan(R"({"shadow":{"version":3}})");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->shadow->target.text, "3");
}

TEST(RolloutJson, TheDocumentOfARollout) {
  rollout::RolloutStatus status;
  status.model = "m";
  status.plan.labels = {{"a", 1}};
  status.versions.push_back({1, true, 9500, 7, 2, 1000, 2000});
  status.versions.push_back({2, false, 0, 0, 0, std::nullopt, std::nullopt});
  status.plan.shadow.emplace().target.text = "2";
  status.shadow = {1, 2, 3, 4, 5};
  status.first_difference = "x";
  status.rollback = rollout::RollbackEvent{2, "why", 17};
  status.rollbacks = 1;
  EXPECT_EQ(EncodeRolloutStatus(status),
            R"({"model":"m","state":"rolled_back","plan":{"labels":{"a":1},)"
            R"("shadow":{"version":"2","parts":10000,"max_in_flight":16,"tolerances":{}}},)"
            R"("versions":[{"version":1,"ready":true,"parts":9500,"requests":7,"failures":2,)"
            R"("p50_us":1000,"p99_us":2000},{"version":2,"ready":false,"parts":0,"requests":0,)"
            R"("failures":0,"p50_us":null,"p99_us":null}],"shadow":{"equal":1,"different":2,)"
            R"("failed":3,"dropped":4,"in_flight":5,"first_difference":"x"},)"
            R"("rollback":{"version":2,"reason":"why","unix_ms":17},"rollbacks":1})");
}

TEST(RolloutJson, ErrorsNameTheField) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "the field 'rollout' is an array; expected an object"},
      {R"({"weights":{}})",
       "the field 'weights' is unknown; expected one of labels, split, shadow, rollback"},
      {R"({"labels":{"a":"1"}})", "the field 'labels.a' is a string; expected a number"},
      {R"({"labels":{"a":-1}})",
       "the field 'labels.a' is -1; expected a whole number that is at least 0"},
      {R"({"labels":{"a":18446744073709551615}})",
       "the field 'labels.a' is 18446744073709551615; expected a version number"},
      {R"({"labels":[]})", "the field 'labels' is an array; expected an object"},
      {R"({"split":{"key":"user"}})",
       "the field 'split.key' is 'user'; expected 'request', 'sequence', 'parameter:<name>' or "
       "'header:<name>'"},
      {R"({"split":{"weights":{"1":0.5}}})",
       "the field 'split.weights.1' is 0.500000; expected a whole number that is at least 0"},
      {R"({"shadow":{"tolerances":{"FLOAT":{}}}})",
       "the field 'shadow.tolerances.FLOAT' is unknown; expected one of the data types, such as "
       "FP32"},
      {R"({"shadow":{"tolerances":{"FP32":{"abs":1}}}})",
       "the field 'shadow.tolerances.FP32.abs' is unknown; expected one of absolute, relative"},
      {R"({"shadow":{"version":null}})", "the field 'shadow.version' is null; expected a number"},
      {R"({"rollback":{"labels":"move"}})",
       "the field 'rollback.labels' is 'move'; expected 'redirect' or 'keep'"},
      {R"({"rollback":{"count_invalid_requests":1}})",
       "the field 'rollback.count_invalid_requests' is a number; expected true or false"},
  };
  for (const auto& [json, error] : cases) {
    const auto plan = DecodeRolloutPlan(json);
    ASSERT_FALSE(plan.ok()) << json;
    EXPECT_EQ(plan.status().code(), base::StatusCode::kInvalidArgument) << json;
    EXPECT_EQ(plan.status().message(), error);
  }
}

TEST(RolloutJson, HostileDocumentsAreRefused) {
  for (const std::string& json :
       {std::string(), std::string("{"), std::string("{}x"), std::string(R"({"labels":{"a":1})"),
        std::string(R"({"split":{"weights":{"1":1e400}}})"), std::string(500, '['),
        "{\"labels\":" + std::string(500, '{'), std::string(R"({"labels":{"a":nope}})"),
        std::string("{\"labels\":{\"a\":1}}\0", 20)}) {
    const auto plan = DecodeRolloutPlan(json);
    EXPECT_FALSE(plan.ok()) << json;
    EXPECT_EQ(plan.status().code(), base::StatusCode::kInvalidArgument) << json;
  }
}

}  // namespace
}  // namespace nereid::codec::json
