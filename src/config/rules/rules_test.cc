// SPDX-License-Identifier: Apache-2.0
// What the rules let through, and which of several violations is told.
#include <gtest/gtest.h>

#include "config/parse/parse.h"
#include "config/rules/validate.h"

namespace nereid::config {
namespace {

// Empty if the configuration is accepted.
std::string Validate(const std::string& text,
                     const ValidateOptions& options = ValidateOptions::ForPoll(true, "")) {
  const auto parsed = ParseModelConfigText("name: \"m\"\n" + text, "config.pbtxt");
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return ValidateModelConfig(**parsed, options).message();
}

std::string Reshape(const std::string& dims, const std::string& shape) {
  return Validate(
      "backend: \"b\" max_batch_size: 1 input { name: \"i\" data_type: TYPE_FP32 dims: [" + dims +
      "] reshape { shape: [" + shape + "] } }");
}

TEST(Rules, ReshapeKeepsTheElements) {
  EXPECT_EQ(Reshape("2, 4, -1, 6", "8, -1, 1, 6"), "");
  EXPECT_EQ(Reshape("-1", "-1"), "");
  EXPECT_EQ(Reshape("1, 1", ""), "");
  EXPECT_EQ(Reshape("16", "4, 4"), "");
  EXPECT_NE(Reshape("2", ""), "");
  EXPECT_NE(Reshape("-1", "4"), "");
  EXPECT_NE(Reshape("-1", ""), "");
  // Products that do not fit are not equal to small ones.
  EXPECT_NE(Reshape("4294967296, 4294967296, 4", "4"), "");
}

TEST(Rules, AcceptWhatTheReferenceServerAccepts) {
  EXPECT_EQ(Validate("backend: \"python\" platform: \"onnxruntime_onnx\""), "");
  EXPECT_EQ(Validate("backend: \"b\" dynamic_batching { }"), "");
  EXPECT_EQ(Validate("backend: \"b\" sequence_batching { direct { } }"), "");
  // DELAY without a timeout delays nothing.
  EXPECT_EQ(Validate("backend: \"b\" dynamic_batching { preserve_ordering: true "
                     "default_queue_policy { timeout_action: DELAY } }"),
            "");
  // Equally named inputs.
  EXPECT_EQ(Validate("backend: \"b\" input [ { name: \"i\" data_type: TYPE_FP32 dims: 1 }, "
                     "{ name: \"i\" data_type: TYPE_FP32 dims: 1 } ]"),
            "");
  EXPECT_EQ(Validate("backend: \"b\" max_batch_size: 1 batch_output [ { target_name: \"o\" "
                     "source_input: \"i\" }, { target_name: \"o\" source_input: \"i\" } ] "
                     "input { name: \"i\" data_type: TYPE_FP32 dims: 1 } "
                     "output { name: \"o\" data_type: TYPE_FP32 dims: 1 }"),
            "");
}

TEST(Rules, OnlyTheAskedSections) {
  const std::string io = "backend: \"b\" input { name: \"i\" }";
  EXPECT_EQ(Validate(io, ValidateOptions::ForPoll(false, "m")), "");
  EXPECT_NE(Validate(io, ValidateOptions::ForPoll(true, "m")), "");
  const std::string groups = "backend: \"b\" instance_group { kind: KIND_CPU gpus: 0 }";
  EXPECT_EQ(Validate(groups), "");
  EXPECT_NE(Validate(groups, ValidateOptions::ForLoad(0)), "");
}

TEST(Rules, TheFirstViolationIsTold) {
  // The whole configuration before its tensors, those one by one in the order of the lists.
  EXPECT_EQ(Validate("backend: \"b\" max_batch_size: -1 input { dims: 0 }"),
            "'max_batch_size' must be non-negative value for m");
  EXPECT_EQ(Validate("backend: \"b\" input [ { name: \"i\" data_type: TYPE_FP32 dims: 0 }, { } ]"),
            "model input 'i' dimension must be integer >= 1, or -1 to indicate a variable-size "
            "dimension for m");
  EXPECT_EQ(Validate("backend: \"b\" max_batch_size: 4 dynamic_batching { preferred_batch_size: "
                     "[ 5, 0 ] }"),
            "dynamic batching preferred size must be <= max batch size for m");
}

std::string Ensemble(const std::string& steps, const std::string& outputs = "o") {
  return Validate(
      "platform: \"ensemble\" input { name: \"i\" data_type: TYPE_FP32 dims: 1 } output "
      "{ name: \"" +
      outputs + "\" data_type: TYPE_FP32 dims: 1 } ensemble_scheduling { " + steps + " }");
}

std::string Step(const std::string& in, const std::string& out) {
  return "step { model_name: \"x\" input_map { key: \"a\" value: \"" + in +
         "\" } output_map { key: \"b\" value: \"" + out + "\" } } ";
}

TEST(Rules, EnsembleDataFlow) {
  EXPECT_EQ(Ensemble(Step("i", "t") + Step("t", "o")), "");
  // The order of the steps does not matter.
  EXPECT_EQ(Ensemble(Step("t", "o") + Step("i", "t")), "");
  EXPECT_EQ(Ensemble(Step("i", "u") + Step("t", "s") + Step("s", "t") + Step("t", "o"))
                .find("output 'o' for ensemble 'm' is not written: at least one of"),
            0u);
  EXPECT_EQ(Ensemble(Step("i", "o") + Step("i", "t")),
            "ensemble tensor 't' is unused in ensemble 'm'");
}

}  // namespace
}  // namespace nereid::config
