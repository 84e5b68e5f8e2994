// SPDX-License-Identifier: Apache-2.0
#include "config/describe/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/complete/complete.h"
#include "config/complete/completion_info.h"
#include "config/complete/instance_groups.h"
#include "config/complete/merge.h"
#include "config/parse/parse.h"
#include "config/text/outline.h"

namespace nereid::config {
namespace {

using testing::ElementsAre;

struct Model {
  ModelConfigPtr written;
  ModelConfigPtr effective;
  Locations places;
  ModelFiles files;
};

Model Read(const std::string& text, const std::string& file = "model.onnx") {
  Model model;
  model.files.directory_name = "m";
  model.files.subdirectories["2"].push_back({file, false});
  model.written = *ParseModelConfigText(text, "config.pbtxt");
  const auto completed = CompleteModelConfig(*model.written, model.files);
  EXPECT_TRUE(completed.ok()) << completed.status().message();
  model.effective = CompleteInstanceGroups(**completed, {});
  model.places = Locations::Of(ReadOutline(text, TextLines(text)));
  return model;
}

// "path = value: origin"
std::vector<std::string> Lines(const std::vector<ExplainedField>& fields) {
  std::vector<std::string> lines;
  for (const ExplainedField& field : fields) {
    std::string line = field.path + " = " + field.value + ": ";
    if (field.origin == FieldOrigin::kWritten) {
      line += std::to_string(field.position.line) + ":" + std::to_string(field.position.column);
    } else {
      line += std::string(FieldOriginName(field.origin)) + " " + field.rule + " " + field.reason;
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> Explained(const std::string& text, const std::string& file) {
  const Model model = Read(text, file);
  return Lines(ExplainModelConfig(*model.effective, {*model.written, model.places, model.files}));
}

TEST(Explain, TellsFilesFromDefaults) {
  EXPECT_THAT(
      Explained("max_batch_size: 0\ninput { name: \"a\" dims: [ 1, -1 ] reshape { shape: [ ] } }\n"
                "parameters { key: \"k\" value { string_value: \"v\" } }\ndynamic_batching { }\n",
                "model.onnx"),
      ElementsAre(
          "name = \"m\": derived derive.name the name of the directory",
          "platform = \"onnxruntime_onnx\": derived derive.platform the file 2/model.onnx",
          "backend = \"onnxruntime\": derived derive.backend the file 2/model.onnx",
          "version_policy.latest.num_versions = 1: default default.version_policy the latest "
          "version, where no policy is given",
          "max_batch_size = 0: 1:1", "input[0].name = \"a\": 2:9", "input[0].dims[0] = 1: 2:27",
          "input[0].dims[1] = -1: 2:30", "input[0].reshape.shape = [ ]: 2:45",
          "optimization.input_pinned_memory.enable = true: default default.input_pinned_memory the "
          "server's default",
          "optimization.output_pinned_memory.enable = true: default default.output_pinned_memory "
          "the server's default",
          "dynamic_batching = { }: 4:1",
          "instance_group[0].name = \"m\": default default.instance_name the name of the model",
          "instance_group[0].kind = KIND_CPU: default default.instance_kind whether there are "
          "GPUs that the backend may use",
          "instance_group[0].count = 2: default default.instance_count the server's default, or "
          "the backend's",
          "default_model_filename = \"model.onnx\": derived derive.default_model_filename what "
          "backend 'onnxruntime' reads by convention",
          "parameters[k].string_value = \"v\": 3:31"));
}

TEST(Explain, TellsHowTheBackendIsKnown) {
  EXPECT_THAT(Explained("platform: \"tensorrt_plan\"", "x"),
              testing::Contains("backend = \"tensorrt\": derived derive.backend the backend of "
                                "platform 'tensorrt_plan'"));
  EXPECT_THAT(Explained("default_model_filename: \"model.py\"", "x"),
              testing::Contains("backend = \"python\": derived derive.backend the backend of files "
                                "named 'model.py'"));
  EXPECT_THAT(
      Explained("name: \"m.mine\"", "x"),
      testing::Contains("backend = \"mine\": derived derive.backend the end of the model's name"));
  EXPECT_THAT(Explained("backend: \"pytorch\"", "x"),
              testing::Contains("platform = \"pytorch_libtorch\": derived derive.platform the "
                                "platform of backend 'pytorch'"));
  EXPECT_THAT(
      Explained("max_batch_size: 3 backend: \"b\" dynamic_batching { } instance_group { }", "x"),
      testing::IsSupersetOf(
          {"dynamic_batching.preferred_batch_size[0] = 3: default "
           "default.preferred_batch_size the value of max_batch_size",
           "instance_group[0].name = \"m_0\": default default.instance_name the name of the "
           "model and the position of the group"}));
}

TEST(Explain, TellsWhatTheBackendAdded) {
  const Model model = Read("max_batch_size: 0\nbackend: \"onnxruntime\"");
  const auto loaded = MergeBackendConfig(
      *model.effective,
      R"({"max_batch_size":4,"input":[{"name":"x","data_type":"TYPE_FP32","dims":[1]}],
          "dynamic_batching":{}})");
  ASSERT_TRUE(loaded.ok());
  const auto lines = Lines(ExplainModelConfig(
      **loaded, {*model.written, model.places, model.files, model.effective.get()}));
  EXPECT_THAT(lines, testing::IsSupersetOf(
                         {"max_batch_size = 4: backend  completed by backend 'onnxruntime'",
                          "input[0].name = \"x\": backend  completed by backend 'onnxruntime'",
                          "backend = \"onnxruntime\": 2:1",
                          "name = \"m\": derived derive.name the name of the directory"}));
  // Nothing changed: a value that is written and is the type's own stays the file's.
  const auto same = Lines(ExplainModelConfig(
      *model.effective, {*model.written, model.places, model.files, model.effective.get()}));
  EXPECT_THAT(same, testing::Contains("max_batch_size = 0: 1:1"));
}

TEST(Explain, KnowsTheValuesOfUnsetFields) {
  EXPECT_EQ(UnsetFieldValue("max_batch_size"), "0");
  EXPECT_EQ(UnsetFieldValue("input"), "[ ]");
  EXPECT_EQ(UnsetFieldValue("input[3]"), "{ }");
  EXPECT_EQ(UnsetFieldValue("input[3].optional"), "false");
  EXPECT_EQ(UnsetFieldValue("input[3].dims[0]"), "0");
  EXPECT_EQ(UnsetFieldValue("instance_group[0].kind"), "KIND_AUTO");
  EXPECT_EQ(UnsetFieldValue("parameters[a.b].string_value"), "\"\"");
  EXPECT_EQ(UnsetFieldValue("dynamic_batching.priority_queue_policy[2].max_queue_size"), "0");
  EXPECT_EQ(UnsetFieldValue("metric_tags[x].y"), std::nullopt);
  EXPECT_EQ(UnsetFieldValue("inputs"), std::nullopt);
  EXPECT_EQ(UnsetFieldValue(""), std::nullopt);
  EXPECT_EQ(UnsetFieldValue("name."), std::nullopt);
}

// Each row stands for a field that exists.
TEST(AllCompletions, NameFields) {
  for (const CompletionInfo& row : AllCompletions()) {
    EXPECT_TRUE(UnsetFieldValue(row.field).has_value()) << row.field;
    EXPECT_FALSE(row.summary.empty());
  }
}

}  // namespace
}  // namespace nereid::config
