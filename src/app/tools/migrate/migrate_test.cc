// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/tools/migrate/migration.h"
#include "app/tools/testing/golden.h"
#include "app/tools/tool.h"
#include "base/files.h"
#include "base/temporary_directory.h"
#include "config/parse/parse.h"

namespace nereid::app::tools {
namespace {

namespace fs = std::filesystem;
using base::testing::SourceDirectory;
using ::testing::HasSubstr;

class MigrateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::move(base::TemporaryDirectory::Create()).value();
    root_ = directory_->path();
  }

  void Write(const std::string& name, const std::string& content) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << content;
  }
  /// Copies files of tests/data: a SavedModel or an IR.
  void Take(const std::string& data, const std::string& name) {
    fs::create_directories((root_ / name).parent_path());
    fs::copy(SourceDirectory() + "/tests/data/" + data, root_ / name, fs::copy_options::recursive);
  }

  ToolResult Migrate(std::vector<std::string> words) {
    return FindTool("migrate")->run(words, ToolContext());
  }
  ToolResult MigrateText(const std::string& text, std::vector<std::string> further = {}) {
    Write("configuration", text);
    std::vector<std::string> words = {(root_ / "configuration").string(), "--output",
                                      (root_ / "out").string()};
    words.insert(words.end(), further.begin(), further.end());
    return Migrate(words);
  }

  /// Returns the output, and all files of the repository with their content or where they lead.
  std::string Everything(const ToolResult& result) {
    std::string text =
        "exit code " + std::to_string(result.exit_code) + "\n" + result.out + result.errors;
    std::vector<fs::path> paths;
    if (fs::exists(root_ / "out")) {
      for (const auto& entry : fs::recursive_directory_iterator(root_ / "out")) {
        paths.push_back(entry.path());
      }
    }
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
      if (fs::is_symlink(path)) {
        text += "\n--- " + path.string() + " -> " + fs::read_symlink(path).string() + "\n";
      } else if (path.extension() != ".pbtxt" && path.extension() != ".json") {
        if (fs::is_regular_file(path)) text += "\n--- " + path.string() + ", a copy\n";
      } else {
        const std::string content = base::ReadFile(path.string()).value();
        text += "\n--- " + path.string() + "\n" + content;
        if (path.filename() == "config.pbtxt") {
          EXPECT_TRUE(config::ParseModelConfigText(content, "m").ok()) << content;
        }
      }
    }
    for (size_t at = 0; (at = text.find(root_.string(), at)) != text.npos;) {
      text.replace(at, root_.string().size(), "DIR");
    }
    return text;
  }

  static std::string Golden(const std::string& name) {
    return SourceDirectory() + "/src/app/tools/golden/migrate/" + name;
  }

  std::unique_ptr<base::TemporaryDirectory> directory_;
  fs::path root_;
};

TEST_F(MigrateTest, TensorFlowServing) {
  Take("tensorflow/savedmodels/linear", "served/linear/1");
  Take("tensorflow/savedmodels/linear", "served/linear/00000003");
  Take("tensorflow/savedmodels/vocabulary", "vocabulary/7");
  Write("empty/x", "");
  const ToolResult result = MigrateText(R"(
# Models of TensorFlow Serving.
model_config_list: {
  config {
    name: 'linear', base_path: "/models" '/linear/', model_platform: "tensorflow"
    model_version_policy { specific { versions: 1 versions: [ 3 ] } }
    version_labels { key: 'stable' value: 1 }
    version_labels { key: "canary" value: 3 }
  }
  config { name: "words" base_path: "vocabulary" model_version_policy: < all < > >
           logging_config { } }
  config { name: "far" base_path: "gs://bucket/far" }
  config { name: "gone" base_path: "/models/gone" }
  config { name: "empty" base_path: "empty" }
}
)",
                                        {"--path", "/models=" + (root_ / "served").string()});
  ExpectGolden(Golden("tensorflow_serving.txt"), Everything(result));
}

TEST_F(MigrateTest, BatchingOfTensorFlowServing) {
  Take("tensorflow/savedmodels/linear", "linear/1");
  Write("batching", R"(max_batch_size { value: 128 } batch_timeout_micros { value: 500 }
                       num_batch_threads { value: 2 } pad_variable_length_inputs: true)");
  const ToolResult result =
      MigrateText("model_config_list { config { name: 'linear' base_path: 'linear' } }",
                  {"--batching=" + (root_ / "batching").string(), "--copy"});
  ExpectGolden(Golden("batching.txt"), Everything(result));
}

TEST_F(MigrateTest, OpenVinoModelServer) {
  Take("openvino/mlp", "models/mlp/1");
  Take("openvino/type_fp32", "models/same/2");
  Take("tensorflow/savedmodels/linear", "models/linear/1");
  const ToolResult result = MigrateText(R"json({
    "model_config_list": [
      {"config": {"name": "mlp", "base_path": "models/mlp", "batch_size": "auto", "nireq": 4,
                  "shape": {"x": "(2,4)"}, "layout": {"x": "NC:CN"}, "target_device": "CPU",
                  "plugin_config": {"NUM_STREAMS": 2, "UNKNOWN": "x"}, "stateful": false}},
      {"config": {"name": "same", "base_path": "models/same", "low_latency_transformation": true,
                  "model_version_policy": {"latest": {"num_versions": 2}}}},
      {"config": {"name": "linear", "base_path": "models/linear",
                  "model_version_policy": {"all": {}}}},
      {"config": {"name": "shaped", "base_path": "models/mlp", "shape": {"z": "(1)"}}}
    ],
    "pipeline_config_list": [
      {"name": "row", "inputs": ["in"],
       "nodes": [
         {"name": "first", "model_name": "mlp", "type": "DL model",
          "inputs": [{"x": {"node_name": "request", "data_item": "in"}}],
          "outputs": [{"data_item": "y", "alias": "hidden"}]},
         {"name": "second", "model_name": "same", "type": "DL model", "version": 2,
          "inputs": [{"x": {"node_name": "first", "data_item": "hidden"}}],
          "outputs": [{"data_item": "y", "alias": "last"}]}],
       "outputs": [{"out": {"node_name": "second", "data_item": "last"}}]},
      {"name": "custom", "inputs": ["in"],
       "nodes": [{"name": "n", "type": "custom", "library_name": "l"}], "outputs": []}
    ],
    "mediapipe_config_list": [{"name": "graph"}],
    "monitoring": {"metrics": {"enable": true}}
  })json");
  ExpectGolden(Golden("openvino_model_server.txt"), Everything(result));
}

TEST_F(MigrateTest, ErrorsSayWhere) {
  const std::pair<const char*, const char*> kCases[] = {
      {"", "has no model_config_list"},
      {"model_config_list {", "line 1, column 1: the text is not in protobuf's text format"},
      {"model_config_list { config { name: 'a' } }", "a config needs name and base_path"},
      {"model_config_list {\n config { nam: 'a' } }", "line 2, column 11: 'nam' is not a field of"},
      {"model_config_list { config { name: 'a' base_path: 'b' model_platform: 'x' } }",
       "model 'a' has the model_platform 'x'"},
      {"model_config_list { config { name: '../a' base_path: 'b' } }", "cannot be the name"},
      {"model_config_list { config { name: 'a' base_path: 'b' } config { name: 'a' base_path: 'b' "
       "} }",
       "two models are called 'a'"},
      {"custom_model_config { }", "custom_model_config"},
      {"{", "failed to parse"},
      {"{}", "has no model_config_list"},
      {R"({"model_config_list": 3})", "expected a list"},
      {R"({"model_config_list": [{"config": {"name": "a"}}]})", "lacks name or base_path"},
      {R"json({"model_config_list": [{"config": {"shape": "(1,x)"}}]})json",
       "is not a list of up to 32"},
      {R"({"model_config_list": [{"config": {"nireq": -1}}]})", "'nireq' needs a whole number"},
      {R"({"model_config_list": [{"config": {"model_version_policy": {"some": {}}}}]})",
       "needs latest, all or specific. Got 'some'"},
  };
  for (const auto& [text, error] : kCases) {
    const ToolResult result = MigrateText(text);
    EXPECT_EQ(result.exit_code, kCannotRun) << text;
    EXPECT_THAT(result.errors, HasSubstr(error)) << text;
    EXPECT_FALSE(fs::exists(root_ / "out")) << text;
  }
  EXPECT_THAT(MigrateText(std::string(1000, '[') + "1").errors, HasSubstr("configuration: "));
  EXPECT_THAT(Migrate({"/nowhere", "-o", "x"}).errors, HasSubstr("/nowhere"));
  EXPECT_THAT(Migrate({"x"}).errors, HasSubstr("--output names"));
}

TEST_F(MigrateTest, AFolderWithFilesIsNotTouched) {
  Write("out/precious", "x");
  Take("tensorflow/savedmodels/linear", "linear/1");
  const ToolResult result =
      MigrateText("model_config_list { config { name: 'linear' base_path: 'linear' } }");
  EXPECT_EQ(result.exit_code, kCannotRun);
  EXPECT_THAT(result.errors, HasSubstr("out is not empty"));
}

TEST_F(MigrateTest, ACopyDoesNotFollowLinksToFolders) {
  Take("tensorflow/savedmodels/linear", "linear/1");
  fs::create_directory_symlink(root_ / "linear", root_ / "linear/1/loop");
  const ToolResult result = MigrateText(
      "model_config_list { config { name: 'linear' base_path: 'linear' } }", {"--copy"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("is a link to a folder"));
}

TEST_F(MigrateTest, PipelinesThatNoEnsembleCanDo) {
  Take("openvino/mlp", "mlp/1");
  const auto pipeline = [&](const std::string& outputs, const std::string& node) {
    fs::remove_all(root_ / "out");
    return MigrateText(R"({"model_config_list": [{"config": {"name": "mlp", "base_path": "mlp"}}],
      "pipeline_config_list": [{"name": "p", "inputs": ["in"], "nodes": [{"name": "n",
        "type": "DL model", "model_name": "mlp", "inputs": [{"x": {"node_name": "request",
        "data_item": "in"}}], "outputs": [{"data_item": "y", "alias": "a"}])" +
                       node + R"(}], "outputs": [)" + outputs + "]}]}")
        .out;
  };
  EXPECT_THAT(pipeline(R"({"o": {"node_name": "n", "data_item": "a"}})", ""),
              HasSubstr("p: ensemble of 1 steps"));
  EXPECT_THAT(pipeline(R"({"o": {"node_name": "request", "data_item": "in"}})", ""),
              HasSubstr("the output 'o' is an input"));
  EXPECT_THAT(pipeline(R"({"o": {"node_name": "n", "data_item": "z"}})", ""),
              HasSubstr("the node 'n' has no output 'z'"));
  EXPECT_THAT(pipeline(R"({"in": {"node_name": "n", "data_item": "a"}})", ""),
              HasSubstr("two inputs or outputs are called 'in'"));
  EXPECT_THAT(pipeline("", R"(, "demultiply_count": 0)"), HasSubstr("uses demultiply_count"));
}

}  // namespace
}  // namespace nereid::app::tools
