// SPDX-License-Identifier: Apache-2.0
#include "config/rules/find_problems.h"

#include <gtest/gtest.h>

#include "config/parse/parse.h"
#include "config/rules/validate.h"

namespace nereid::config {
namespace {

using Lines = std::vector<std::string>;

std::vector<Problem> Find(const std::string& text) {
  const auto parsed = ParseModelConfigText(text, "config.pbtxt");
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return FindProblems(**parsed, ValidateOptions::ForAll(0, "m"));
}

// "<rule> <field>" of each.
Lines Places(const std::vector<Problem>& problems) {
  Lines lines;
  for (const Problem& problem : problems) lines.push_back(problem.rule + " " + problem.field);
  return lines;
}

constexpr char kGroup[] = "name: \"m\" backend: \"b\" instance_group { kind: KIND_CPU count: 1 } ";

TEST(FindProblems, FindsNothingInAGoodConfiguration) { EXPECT_EQ(Places(Find(kGroup)), Lines()); }

TEST(FindProblems, FindsEveryViolationOfEverySection) {
  const auto problems = Find(
      "name: \"n\" backend: \"b\" max_batch_size: -1 "
      "input [ { name: \"i\" data_type: TYPE_FP32 dims: [ 4, 0, -2 ] }, { dims: 1 } ] "
      "output { name: \"o\" data_type: TYPE_FP32 dims: 4 reshape { shape: [ 2, 3 ] } } "
      "instance_group { name: \"g\" kind: KIND_CPU count: 1 gpus: 0 } "
      "dynamic_batching { preferred_batch_size: 0 priority_levels: 2 }");
  EXPECT_EQ(Places(problems),
            Lines({
                "identity.max_batch_size max_batch_size",
                "dynamic.preferred_positive dynamic_batching.preferred_batch_size[0]",
                "dynamic.default_priority dynamic_batching.default_priority_level",
                "tensor.dim_range input[0].dims[1]",
                "tensor.dim_range input[0].dims[2]",
                "tensor.name input[1].name",
                "tensor.data_type input[1].data_type",
                "tensor.reshape_size output[0].reshape.shape",
                "instances.gpus_off_gpu instance_group[0].gpus",
                "directory.name name",
            }));
  EXPECT_EQ(problems[3].message,
            "model input 'i' dimension must be integer >= 1, or -1 to indicate a variable-size "
            "dimension for n");
  EXPECT_EQ(problems[3].expected, "1 or more, or -1");
  EXPECT_EQ(problems[3].remedy, "Write -1 where the size differs from request to request.");
  EXPECT_EQ(problems[3].severity, Severity::kError);
}

TEST(FindProblems, LeavesOutConsequences) {
  // Without dims there is nothing to compare a reshape or a format with.
  EXPECT_EQ(Places(Find(std::string(kGroup) +
                        "max_batch_size: 1 input { name: \"i\" data_type: TYPE_FP32 "
                        "format: FORMAT_NHWC reshape { shape: 4 } }")),
            Lines({"tensor.dims input[0].dims"}));
  EXPECT_EQ(Places(Find("name: \"m\" platform: \"ensemble\" ensemble_scheduling { step { "
                        "model_name: \"x\" input_map { key: \"a\" value: \"i\" } } } "
                        "output { name: \"o\" data_type: TYPE_FP32 dims: 1 }")),
            Lines({"ensemble.step_outputs ensemble_scheduling.step[0].output_map"}));
}

TEST(FindProblems, TheFirstErrorIsWhatTheServerSays) {
  const auto parsed = ParseModelConfigText(
      "name: \"m\" backend: \"b\" max_batch_size: 2 input [ { name: \"i\" }, { } ] "
      "dynamic_batching { preferred_batch_size: [ 1, 3, 0 ] }",
      "");
  ASSERT_TRUE(parsed.ok());
  const auto options = ValidateOptions::ForAll(0, "m");
  const auto problems = FindProblems(**parsed, options);
  ASSERT_GT(problems.size(), 3u);
  EXPECT_EQ(problems[0].message, ValidateModelConfig(**parsed, options).message());
  EXPECT_EQ(problems[0].expected, "at most 2 (max_batch_size)");
}

TEST(AllRules, HaveTexts) {
  for (const RuleInfo& rule : AllRules()) {
    EXPECT_TRUE(rule.summary.ends_with('.')) << rule.id;
    EXPECT_TRUE(rule.remedy.ends_with('.')) << rule.id;
    EXPECT_FALSE(rule.expected.empty()) << rule.id;
    EXPECT_FALSE(rule.field.empty()) << rule.id;
  }
}

}  // namespace
}  // namespace nereid::config
