// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/model_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "tensorflow/graph_writer.h"
#include "testing/fake_server.h"

namespace nereid::tensorflow {
namespace {

namespace fs = std::filesystem;
using testing::Graph;
using testing::Node;
using testing::Text;
using Tags = std::vector<std::string>;

class ModelFilesTest : public ::testing::Test {
 protected:
  ModelFilesTest() {
    std::string pattern = (fs::temp_directory_path() / "model_files_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    config_.name = "m";
    config_.version = 3;
    config_.directory = folder_.string();
  }
  ~ModelFilesTest() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& content) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  void Set(const std::string& key, const std::string& value) {
    config_.parameters = backend::Parameters("model 'm'", {{key, value}});
  }
  std::string Open(const Tags& tags, std::string_view* graph_def) {
    std::string_view meta_graph;
    const Error error =
        OpenSavedModel(config_, (folder_ / "3/s").string(), tags, &bytes_, &meta_graph);
    *graph_def = GraphDefOf(meta_graph);
    return error.message();
  }
  std::string Ops(std::vector<std::string>* names) { return ReadInitOps(config_, names).message(); }

  fs::path folder_;
  backend::ModelConfig config_;
  std::string bytes_;
};

std::string MetaGraph(const Tags& tags, const std::string& graph, bool restores = false) {
  std::string info;
  for (const std::string& tag : tags) {
    info += Text(4, tag);
  }
  return Text(2, Text(1, info) + Text(2, graph) + (restores ? Text(3, Text(3, "restore")) : ""));
}

TEST_F(ModelFilesTest, WantedTags) {
  EXPECT_EQ(WantedTags(config_), Tags{"serve"});
  Set("TF_GRAPH_TAG", "gpu,,another");
  EXPECT_EQ(WantedTags(config_), (Tags{"another", "gpu"}));
  Set("TF_GRAPH_TAG", "");
  EXPECT_EQ(WantedTags(config_), Tags{"serve"});
}

TEST_F(ModelFilesTest, FindsTheGraphWithTheTags) {
  const std::string graph = Graph({Node("n", "Const", {})});
  Write("3/s/saved_model.pb", MetaGraph({"train"}, "") + MetaGraph({"serve", "fast"}, graph));
  EXPECT_EQ(ReadTags(MetaGraph({"b", "a"}, "")), std::vector<Tags>({{"a", "b"}}));
  std::string_view found;
  EXPECT_EQ(Open({"fast", "serve"}, &found), "");
  EXPECT_EQ(found, graph);
  EXPECT_EQ(Open({"serve"}, &found),
            "model 'm': " + (folder_ / "3/s/saved_model.pb").string() +
                " has no graph with the tags 'serve' (parameter TF_GRAPH_TAG); its graphs have: "
                "'train', 'fast,serve'");
}

TEST_F(ModelFilesTest, WhatIsMissing) {
  std::string_view found;
  const std::string path = (folder_ / "3/s").string();
  EXPECT_EQ(
      Open({"serve"}, &found),
      "model 'm': " + path + " is not a directory; a SavedModel is one, with saved_model.pb in it");
  fs::create_directories(path);
  EXPECT_EQ(Open({"serve"}, &found), "model 'm': " + path + " holds no saved_model.pb");
  Write("3/s/saved_model.pbtxt", "meta_graphs {}");
  EXPECT_EQ(Open({"serve"}, &found), "");  // the text form is TensorFlow's to read
  Write("3/s/saved_model.pb", "");
  EXPECT_EQ(Open({"serve"}, &found),
            "model 'm': " + path + "/saved_model.pb has 0 bytes, which is no SavedModel");
  Write("3/s/saved_model.pb", "\xff\xff");
  EXPECT_EQ(Open({"serve"}, &found),
            "model 'm': " + path + "/saved_model.pb is no SavedModel: it holds no graph");
}

TEST_F(ModelFilesTest, VariablesThatTheGraphRestoresAndThatAreMissingAreWarnedOf) {
  std::string_view found;
  const auto warned = [] {
    const auto lines = std::exchange(backend::testing::LogLines(), {});
    return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("holds no variables/variables.index") != std::string::npos;
    });
  };
  EXPECT_FALSE(warned());
  const std::string variables = Graph({Node("v", "VarHandleOp", {})});
  Write("3/s/saved_model.pb", MetaGraph({"serve"}, variables, true));
  EXPECT_EQ(Open({"serve"}, &found), "");
  EXPECT_TRUE(warned());
  Write("3/s/variables/variables.index", "x");
  EXPECT_EQ(Open({"serve"}, &found), "");
  EXPECT_FALSE(warned());
  fs::remove_all(folder_ / "3/s/variables");
  Write("3/s/saved_model.pb", MetaGraph({"serve"}, variables, false));
  EXPECT_EQ(Open({"serve"}, &found), "");
  EXPECT_FALSE(warned());
}

TEST_F(ModelFilesTest, InitialisingOperations) {
  std::vector<std::string> names;
  EXPECT_EQ(Ops(&names), "");
  EXPECT_TRUE(names.empty());
  Set("TF_INIT_OPS_FILE", "ops.json");
  EXPECT_EQ(Ops(&names), "model 'm': there is no file " + (folder_ / "ops.json").string());
  Write("ops.json", R"({"init_ops": ["outer"]})");
  EXPECT_EQ(Ops(&names), "");
  Write("3/ops.json", R"({"init_ops": ["a", "b"]})");
  EXPECT_EQ(Ops(&names), "");
  EXPECT_EQ(names, (std::vector<std::string>{"outer", "a", "b"}));
  for (const char* bad : {"[", "[]", R"({"init_ops": "a"})", R"({"ops": []})"}) {
    Write("3/ops.json", bad);
    EXPECT_NE(Ops(&names).find("must be a JSON object"), std::string::npos) << bad;
  }
  for (const char* outside : {"../ops.json", "/etc/hosts", "a/../../b"}) {
    Set("TF_INIT_OPS_FILE", outside);
    EXPECT_NE(Ops(&names).find("leads out of the model's folder"), std::string::npos) << outside;
  }
}

}  // namespace
}  // namespace nereid::tensorflow
