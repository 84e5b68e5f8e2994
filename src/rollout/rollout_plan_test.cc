// SPDX-License-Identifier: Apache-2.0
#include "rollout/rollout_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace nereid::rollout {
namespace {

RolloutPlan Canary() {
  RolloutPlan plan;
  plan.labels = {{"stable", 1}, {"canary", 2}};
  plan.split = Split{SplitKey::kRequest, "", {{{"stable"}, 9500}, {{"2"}, 500}}};
  plan.shadow = Shadow{{"3"}, 100, 4, {{tensor::DataType::kFp32, {0.1, 0}}}};
  plan.rollback.emplace().target.text = "canary";
  plan.rollback->max_error_parts = 100;
  return plan;
}

TEST(RolloutPlan, TargetsBecomeVersions) {
  RolloutPlan plan = Canary();
  ASSERT_TRUE(CompletePlan(&plan).ok());
  EXPECT_EQ(plan.split->weights[0].target.version, 1);
  EXPECT_EQ(plan.split->weights[1].target.version, 2);
  EXPECT_EQ(plan.shadow->target.version, 3);
  EXPECT_EQ(plan.rollback->target.version, 2);
  EXPECT_EQ(FindLabel(plan, "canary"), 2);
  EXPECT_EQ(FindLabel(plan, "Canary"), std::nullopt);
  EXPECT_EQ(LabelList(plan), "'canary', 'stable'");
}

TEST(RolloutPlan, ErrorsNameTheFieldTheValueAndWhatIsExpected) {
  struct Case {
    std::function<void(RolloutPlan&)> change;
    const char* error;
  };
  const Case cases[] = {
      {[](auto& plan) { plan.labels.emplace_back("2nd", 1); },
       "the field 'labels' is the name '2nd'; expected a letter, then letters, digits, '.', '_' "
       "and '-', 64 characters at most"},
      {[](auto& plan) { plan.labels.emplace_back("stable", 3); },
       "the field 'labels.stable' is there twice; expected each name once"},
      {[](auto& plan) {
         for (int i = 0; i < 64; ++i) plan.labels.emplace_back("l" + std::to_string(i), i);
       },
       "the field 'labels' is 66 labels; expected 64 at most"},
      {[](auto& plan) { plan.split->weights[1].parts = 501; },
       "the field 'split.weights' is 10001 parts in all; expected 10000 parts in all"},
      {[](auto& plan) { plan.split->weights[1].parts = 10001; },
       "the field 'split.weights.2' is 10001; expected a number from 0 to 10000"},
      {[](auto& plan) { plan.split->weights[1].target.text = "blue"; },
       "the field 'split.weights' is 'blue'; expected a version number or one of the labels "
       "('canary', 'stable')"},
      {[](auto& plan) { plan.split->weights[1].target.text = "1"; },
       "the field 'split.weights.1' is version 1 once more; expected each version once"},
      {[](auto& plan) { plan.split->weights.clear(); },
       "the field 'split.weights' is 0 weights; expected a number from 1 to 64 of weights"},
      {[](auto& plan) { plan.shadow->parts = 0; },
       "the field 'shadow.parts' is 0; expected a number from 1 to 10000"},
      {[](auto& plan) { plan.shadow->max_in_flight = 1025; },
       "the field 'shadow.max_in_flight' is 1025; expected a number from 1 to 1024"},
      {[](auto& plan) { plan.shadow->target.text = "-1"; },
       "the field 'shadow.version' is '-1'; expected a version number or one of the labels "
       "('canary', 'stable')"},
      {[](auto& plan) { plan.shadow->tolerances[tensor::DataType::kBytes] = {}; },
       "the field 'shadow.tolerances.BYTES' is there; expected a data type of numbers, such as "
       "FP32"},
      {[](auto& plan) { plan.shadow->tolerances[tensor::DataType::kFp32].relative = NAN; },
       "the field 'shadow.tolerances.FP32' is nan; expected finite numbers that are at least 0"},
      {[](auto& plan) { plan.rollback->max_error_parts.reset(); },
       "the field 'rollback' is without a bound; expected max_error_parts, max_latency_us or "
       "both"},
      {[](auto& plan) { plan.rollback->max_error_parts = 10000; },
       "the field 'rollback.max_error_parts' is 10000; expected a number from 0 to 9999"},
      {[](auto& plan) { plan.rollback->window_seconds = 0; },
       "the field 'rollback.window_seconds' is 0; expected a number from 1 to 3600"},
      {[](auto& plan) { plan.rollback->min_requests = 0; },
       "the field 'rollback.min_requests' is 0; expected a number from 1 to 1000000"},
      {[](auto& plan) { plan.rollback->max_latency_us = 0; },
       "the field 'rollback.max_latency_us' is 0; expected a number from 1 to 3600000000"},
  };
  for (const Case& one : cases) {
    RolloutPlan plan = Canary();
    one.change(plan);
    const base::Status status = CompletePlan(&plan);
    EXPECT_EQ(status.code(), base::StatusCode::kInvalidArgument) << one.error;
    EXPECT_EQ(status.message(), one.error);
  }
}

TEST(RolloutPlan, LabelsAreNoNumbersAndShort) {
  for (const char* good : {"a", "stable", "v1.2_b-c", "Z9"}) EXPECT_TRUE(IsLabel(good)) << good;
  for (const char* bad : {"", "1", "+1", "1a", "-a", ".a", "a b", "a/b", "a\n", "\xc3\xa4"}) {
    EXPECT_FALSE(IsLabel(bad)) << bad;
  }
  EXPECT_TRUE(IsLabel(std::string(64, 'a')));
  EXPECT_FALSE(IsLabel(std::string(65, 'a')));
}

TEST(RolloutPlan, LongTextsOfClientsAreCutInErrors) {
  RolloutPlan plan;
  plan.labels = {{std::string(100'000, '!'), 1}};
  EXPECT_LT(CompletePlan(&plan).message().size(), 300u);
}

TEST(RolloutPlan, KeysOfASplit) {
  for (const char* text : {"request", "sequence", "parameter:user", "header:x-user"}) {
    Split split;
    ASSERT_TRUE(ParseSplitKey(text, &split)) << text;
    EXPECT_EQ(SplitKeyText(split), text);
  }
  for (const std::string& text : {std::string(), std::string("user"), std::string("parameter:"),
                                  std::string("header:"), "header:" + std::string(257, 'x')}) {
    Split split;
    EXPECT_FALSE(ParseSplitKey(text, &split)) << text;
  }
}

}  // namespace
}  // namespace nereid::rollout
