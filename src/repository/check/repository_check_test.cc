// SPDX-License-Identifier: Apache-2.0
#include "repository/check/repository_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace nereid::repository {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class RepositoryCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("nereid_check_test_" + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_ / "models");
  }
  void TearDown() override { fs::remove_all(root_); }

  // A file below the repository, with its directories; a path that ends with '/' makes those only.
  void Write(const std::string& path, const std::string& text = "anything") {
    const fs::path file = root_ / "models" / path;
    fs::create_directories(file.parent_path());
    if (!path.ends_with('/')) std::ofstream(file, std::ios::binary) << text;
  }

  static std::string Io() {
    return "input { name: \"x\" data_type: TYPE_FP32 dims: [ 4 ] }\n"
           "output { name: \"y\" data_type: TYPE_FP32 dims: [ 4 ] }\n";
  }

  // "file:line:column severity rule field: message", the root left out.
  std::vector<std::string> Findings(const std::string& directory = "models") {
    const auto report = CheckRepositories({(root_ / directory).string()}, options_);
    EXPECT_TRUE(report.ok()) << report.status().message();
    return Lines(*report);
  }
  std::vector<std::string> Lines(const CheckReport& report) {
    std::vector<std::string> lines;
    for (const Finding& finding : report.findings) {
      std::string line = finding.file;
      if (finding.position.line > 0) {
        line += ":" + std::to_string(finding.position.line) + ":" +
                std::to_string(finding.position.column);
      }
      line += " " + std::string(config::SeverityName(finding.severity)) + " " + finding.rule + " " +
              finding.field + ": " + finding.message;
      const std::string root = root_.string() + "/";
      for (size_t at = line.find(root); at != std::string::npos; at = line.find(root)) {
        line.erase(at, root.size());
      }
      lines.push_back(std::move(line));
    }
    return lines;
  }

  fs::path root_;
  CheckOptions options_;
};

TEST_F(RepositoryCheckTest, FindsNothingInGoodModels) {
  Write("a/config.pbtxt", "backend: \"onnxruntime\"\n" + Io());
  Write("a/1/model.onnx");
  Write("b/1/model.onnx");
  Write("readme.txt");
  const auto report = CheckRepositories({(root_ / "models").string()}, options_);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->models, 2u);
  EXPECT_THAT(Lines(*report), IsEmpty());
  EXPECT_THAT(Findings("models/a"), IsEmpty());
  EXPECT_THAT(Findings("models/b/"), IsEmpty());
}

TEST_F(RepositoryCheckTest, KnowsModelsFromRepositories) {
  Write("a/config.pbtxt");
  Write("b/1/model.onnx");
  Write("7/1/model.onnx");
  EXPECT_FALSE(IsModelDirectory((root_ / "models").string()));
  EXPECT_TRUE(IsModelDirectory((root_ / "models/a").string()));
  EXPECT_TRUE(IsModelDirectory((root_ / "models/b").string()));
  EXPECT_TRUE(IsModelDirectory((root_ / "models/7").string()));
  EXPECT_FALSE(IsModelDirectory((root_ / "none").string()));
  const auto report = CheckRepositories({(root_ / "none").string()}, options_);
  EXPECT_EQ(report.status().code(), base::StatusCode::kNotFound);
}

TEST_F(RepositoryCheckTest, TellsTextProblemsAndBrokenRulesAtTheirPlaces) {
  Write("a/config.pbtxt",
        "name: \"other\"\nbackend: \"onnxruntime\"\nmax_batch_size: -1\ninputs { }\n"
        "input {\n  name: \"x\"\n  data_type: TYPE_FLOAT\n  dims: [ 4, 0 ]\n}\n"
        "output { name: \"y\" data_type: TYPE_FP32 }\n"
        "metric_tags { key: \"k\" value: \"1\" }\nmetric_tags { key: \"k\" value: \"2\" }\n");
  Write("a/1/model.onnx");
  EXPECT_THAT(
      Findings(),
      ElementsAre(
          "models/a/config.pbtxt:1:1 error directory.name name: unexpected directory name 'a' for "
          "model 'other', directory name must equal model name",
          "models/a/config.pbtxt:3:1 error identity.max_batch_size max_batch_size: "
          "'max_batch_size' must be non-negative value for other",
          "models/a/config.pbtxt:4:1 error text.unknown_field inputs: unknown field 'inputs'",
          "models/a/config.pbtxt:7:14 error text.enum_value input[0].data_type: unknown value "
          "'TYPE_FLOAT' of 'data_type'",
          "models/a/config.pbtxt:8:14 error tensor.dim_range input[0].dims[1]: model input 'x' "
          "dimension must be integer >= 1, or -1 to indicate a variable-size dimension for other",
          "models/a/config.pbtxt:10:1 error tensor.dims output[0].dims: model output 'y' must "
          "specify 'dims' for other",
          "models/a/config.pbtxt:12:1 warning text.repeated_key metric_tags[k]: the key of "
          "'metric_tags[k]' is given twice"));
}

TEST_F(RepositoryCheckTest, LooksForFiles) {
  Write(
      "a/config.pbtxt",
      "backend: \"onnxruntime\" input { name: \"x\" data_type: TYPE_FP32 dims: 4 }\n"
      "output { name: \"y\" data_type: TYPE_FP32 dims: 4 label_filename: \"labels.txt\" }\n"
      "output { name: \"z\" data_type: TYPE_FP32 dims: 4 label_filename: \"../l\" }\n"
      "version_policy { all { } }\n"
      "model_warmup { name: \"w\" batch_size: 1\n"
      "  inputs { key: \"x\" value { data_type: TYPE_FP32 dims: 4 input_data_file: \"none\" } }\n"
      "  inputs { key: \"s\" value { data_type: TYPE_FP32 dims: 4 input_data_file: \"short\" } }\n"
      "}\n"
      "sequence_batching { state { input_name: \"i\" output_name: \"o\" data_type: TYPE_INT64\n"
      "  dims: 2 initial_state { name: \"n\" data_type: TYPE_INT64 dims: 2\n"
      "  data_file: \"state\" } } }\n");
  Write("a/1/model.bin");
  Write("a/2/model.onnx");
  Write("a/3/");
  Write("a/warmup/short", "123");
  EXPECT_THAT(
      Findings(),
      ElementsAre(
          "models/a/config.pbtxt:1:1 error files.model default_model_filename: version 1 of model "
          "'a' has no file 'model.onnx': its directory holds model.bin",
          "models/a/config.pbtxt:1:1 error files.model default_model_filename: version 3 of model "
          "'a' has no file 'model.onnx': its directory is empty",
          "models/a/config.pbtxt:2:49 error files.labels output[0].label_filename: failed to open "
          "text file for read models/a/labels.txt: No such file or directory",
          "models/a/config.pbtxt:3:49 error tensor.label_path output[1].label_filename: model "
          "output 'z' has the label file '../l', which is outside the model directory, for a",
          "models/a/config.pbtxt:6:58 error files.warmup model_warmup[0].inputs[x]."
          "input_data_file: failed to open the data file models/a/warmup/none of model 'a': No "
          "such "
          "file or directory",
          "models/a/config.pbtxt:7:58 error files.warmup model_warmup[0].inputs[s]."
          "input_data_file: the data file models/a/warmup/short of model 'a' has 3 bytes",
          "models/a/config.pbtxt:11:3 error files.initial_state sequence_batching.state[0]."
          "initial_state[0].data_file: failed to open the data file models/a/initial_state/state "
          "of "
          "model 'a': No such file or directory"));
}

TEST_F(RepositoryCheckTest, LooksAtVersionDirectories) {
  Write("a/config.pbtxt",
        "backend: \"identity\" version_policy { specific { versions: [ 1, 7 ] } }");
  for (const char* name : {"1", "010", "1_old", "abc", "2_new", "configs", "warmup"}) {
    Write(std::string("a/") + name + "/");
  }
  Write("b/config.pbtxt", "backend: \"identity\"");
  Write("c/config.pbtxt", "backend: \"identity\"");
  Write("c/3_x/");
  EXPECT_THAT(
      Findings(),
      ElementsAre(
          "models/a/010 warning versions.ignored : ignoring version directory '010' of model 'a': "
          "it is not a number, or starts with a zero",
          "models/a/1_old warning versions.ignored : ignoring version directory '1_old' of model "
          "'a': it is not a number, or starts with a zero",
          "models/a/2_new warning versions.ignored : ignoring version directory '2_new' of model "
          "'a': it is not a number, or starts with a zero",
          "models/a/abc warning versions.ignored : ignoring version directory 'abc' of model 'a': "
          "it is not a number, or starts with a zero",
          "models/a/config.pbtxt:1:64 warning versions.missing version_policy.specific.versions[1]:"
          " version 7 is specified for model 'a', but the version directory is not present",
          "models/b error versions.none : at least one version must be available under the version "
          "policy of model 'b'",
          "models/c error versions.none : at least one version must be available under the version "
          "policy of model 'c'",
          "models/c/3_x warning versions.ignored : ignoring version directory '3_x' of model 'c': "
          "it is not a number, or starts with a zero"));
}

TEST_F(RepositoryCheckTest, LooksForBackendLibraries) {
  options_.backend_directory = (root_ / "backends").string();
  Write("a/config.pbtxt", "name: \"a\"\nbackend: \"mine\"");
  Write("a/1/libtriton_mine.so");
  Write("b/config.pbtxt", "name: \"b\"\nbackend: \"mine\"");
  Write("b/1/");
  Write("c/config.pbtxt", "backend: \"mine\"\nruntime: \"../x\"");
  Write("c/1/");
  EXPECT_THAT(
      Findings(),
      ElementsAre("models/b/config.pbtxt:2:1 error files.backend_library backend: unable to "
                  "find backend library for backend 'mine', try specifying runtime on the "
                  "model configuration.",
                  "models/c/config.pbtxt:2:1 error files.backend_library runtime: backend "
                  "library name '../x' escapes backend directory 'backends/mine', for model "
                  "'c', check model config runtime field"));
}

TEST_F(RepositoryCheckTest, LooksForRepositoryAgents) {
  options_.repoagent_directory = (root_ / "agents").string();
  Write("../agents/checksum/libtritonrepoagent_checksum.so");
  Write("a/config.pbtxt",
        "backend: \"identity\" model_repository_agents { agents { name: \"checksum\" }\n"
        "agents { name: \"none\" } }");
  Write("a/1/");
  EXPECT_THAT(Findings(),
              ElementsAre("models/a/config.pbtxt:2:10 error files.agent_library "
                          "model_repository_agents.agents[1].name: there is no repository agent "
                          "'none', which model 'a' needs"));
}

TEST_F(RepositoryCheckTest, ABackendOfOthersMayCompleteTensors) {
  Write("a/config.pbtxt", "backend: \"mine\"\ninput { name: \"x\" }");
  Write("a/1/");
  EXPECT_THAT(Findings(),
              ElementsAre(testing::StartsWith("models/a/config.pbtxt:2:1 warning tensor.data_type"),
                          testing::StartsWith("models/a/config.pbtxt:2:1 warning tensor.dims")));
  options_.strict_config = true;
  EXPECT_THAT(Findings(), testing::Each(testing::HasSubstr(" error tensor.")));
  options_.strict_config = false;
  Write("a/config.pbtxt", "backend: \"identity\"\ninput { name: \"x\" }");
  EXPECT_THAT(Findings(), testing::Each(testing::HasSubstr(" error tensor.")));
}

TEST_F(RepositoryCheckTest, FilesForCapabilitiesAreTheirBackends) {
  const std::string names = "\ncc_model_filenames { key: \"8.0\" value: \"other\" }";
  Write("a/config.pbtxt", "backend: \"onnxruntime\" " + Io() + names);
  Write("a/1/model.onnx");
  EXPECT_THAT(Findings(), ElementsAre(testing::HasSubstr(" warning advice.capability_files ")));
}

TEST_F(RepositoryCheckTest, DirectoriesThatAreNoModelsAreWarnings) {
  options_.backend_directory = (root_ / "backends").string();
  Write("../backends/mine/libtriton_mine.so");
  Write(".git/config");
  Write(".ipynb_checkpoints/config-checkpoint.pbtxt");
  Write("old.bak/");
  Write("a.mine/1/");
  EXPECT_THAT(Findings(),
              ElementsAre("models/old.bak warning repository.no_model : the directory 'old.bak' is "
                          "no model: it has neither a configuration nor a model file, and there is "
                          "no backend 'bak'"));
}

TEST_F(RepositoryCheckTest, PlaceholdersInQuotesAreWarnings) {
  Write("a/config.pbtxt",
        "backend: \"identity\"\n"
        "metric_tags { key: \"team\" value: \"{{ team }}\" }\n"
        "parameters { key: \"mode\" value { string_value: \"${mode}\" } }\n"
        "parameters { key: \"path\" value { string_value: \"$$TRITON_MODEL_DIRECTORY/x\" } }\n"
        "parameters { key: \"chat\" value { string_value: \"{% if a %}<s>{{ a }}\" } }\n");
  Write("a/1/");
  const auto findings = Findings();
  std::vector<std::string> placeholders;
  for (const std::string& finding : findings) {
    if (finding.find("text.placeholder_value") != std::string::npos)
      placeholders.push_back(finding);
  }
  EXPECT_THAT(placeholders,
              ElementsAre(testing::HasSubstr(":2:1 warning text.placeholder_value "
                                             "metric_tags[team]: the placeholder '{{ team }}'"),
                          testing::HasSubstr("parameters[mode].string_value: the placeholder "
                                             "'${mode}' in the value of 'string_value'")));
}

TEST_F(RepositoryCheckTest, LooksAtConfigurationFiles) {
  Write("empty/");
  Write("a/configs/b.pbtxt", "backend: \"identity\" max_batch_size: -2");
  Write("a/config.pbtxt", "backend: \"identity\"");
  Write("a/1/");
  EXPECT_THAT(Findings(), ElementsAre(testing::StartsWith(
                              "models/empty error files.backend : Invalid model name: Could not "
                              "determine backend for model 'empty'")));
  options_.strict_config = true;
  options_.config_name = "b";
  EXPECT_THAT(Findings(),
              ElementsAre(testing::StartsWith("models/a/configs/b.pbtxt:1:21 error "
                                              "identity.max_batch_size"),
                          testing::StartsWith("models/empty/config.pbtxt error files.config : "
                                              "failed to open text file for read")));
}

std::string Ensemble(const std::string& steps) {
  return "platform: \"ensemble\"\ninput { name: \"x\" data_type: TYPE_INT32 dims: [ 4 ] }\n"
         "output { name: \"y\" data_type: TYPE_FP32 dims: [ 4 ] }\nensemble_scheduling {\n" +
         steps + "}\n";
}

std::string Step(const std::string& model, const std::string& from, const std::string& to) {
  return "  step { model_name: \"" + model +
         "\" model_version: -1\n"
         "    input_map { key: \"x\" value: \"" +
         from + "\" }\n    output_map { key: \"y\" value: \"" + to + "\" } }\n";
}

TEST_F(RepositoryCheckTest, LooksAtTheMembersOfEnsembles) {
  Write("a/config.pbtxt", "backend: \"identity\"\n" + Io());
  Write("a/1/");
  Write("broken/config.pbtxt", "backend: \"");
  Write("auto/1/model.onnx");
  Write("e/config.pbtxt", Ensemble(Step("a", "x", "t") + Step("none", "t", "u") +
                                   Step("broken", "u", "v") + Step("auto", "v", "y")));
  Write("e/1/");
  EXPECT_THAT(
      Findings(),
      ElementsAre(testing::StartsWith("models/broken/config.pbtxt:1:10 error text.syntax"),
                  "models/e/config.pbtxt:6:5 error members.data_type "
                  "ensemble_scheduling.step[0].input_map[x]: in ensemble e, ensemble tensor x: "
                  "inconsistent data type: TYPE_INT32 is inferred from model e while TYPE_FP32 is "
                  "inferred from model a",
                  "models/e/config.pbtxt:8:10 error members.exist "
                  "ensemble_scheduling.step[1].model_name: ensemble e contains models that are not "
                  "available or ambiguous: none"));
}

TEST_F(RepositoryCheckTest, FindsNamesInTwoRepositories) {
  Write("a/config.pbtxt", "backend: \"identity\"");
  Write("a/1/");
  Write("../more/a/config.pbtxt", "backend: \"identity\"");
  Write("../more/a/1/");
  const auto report =
      CheckRepositories({(root_ / "models").string(), (root_ / "more").string()}, options_);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->models, 2u);
  EXPECT_THAT(Lines(*report),
              ElementsAre("models/a error repository.duplicate : model 'a' appears in two or more "
                          "repositories: also more/a",
                          "more/a error repository.duplicate : model 'a' appears in two or more "
                          "repositories: also models/a"));
}

TEST_F(RepositoryCheckTest, LooksAtManyModelsOnSeveralThreads) {
  for (int i = 0; i < 300; ++i) {
    Write("m" + std::to_string(i) + "/config.pbtxt", "backend: \"identity\" max_batch_size: -1");
    Write("m" + std::to_string(i) + "/1/");
  }
  const auto report = CheckRepositories({(root_ / "models").string()}, options_);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->models, 300u);
  std::set<std::string> names;
  for (const Finding& finding : report->findings) names.insert(finding.model);
  EXPECT_EQ(names.size(), 300u);
  EXPECT_EQ(report->findings.size(), 300u);
}

TEST(ListCheckRules, HaveDifferentIds) {
  std::set<std::string_view> ids;
  for (const auto& rule : ListCheckRules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.summary.empty()) << rule.id;
  }
  EXPECT_GT(ids.size(), 100u);
}

}  // namespace
}  // namespace nereid::repository
