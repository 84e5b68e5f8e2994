// SPDX-License-Identifier: Apache-2.0
#include "config/complete/complete.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "config/complete/instance_groups.h"
#include "config/complete/merge.h"
#include "config/parse/parse.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Entry = ModelFiles::Entry;

ModelConfigPtr Parse(const std::string& text) {
  auto result = ParseModelConfigText(text, "config.pbtxt");
  EXPECT_TRUE(result.ok()) << result.status().message();
  return std::move(result).value();
}

ModelConfigPtr Complete(const std::string& text, std::vector<Entry> entries = {},
                        const std::string& directory = "m") {
  ModelFiles files{directory, {{"1", std::move(entries)}}};
  auto result = CompleteModelConfig(*Parse(text), files);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return std::move(result).value();
}

struct DeriveCase {
  std::string text;
  std::vector<Entry> entries;
  std::string platform;
  std::string backend;
  std::string filename;
};

class DeriveTest : public testing::TestWithParam<DeriveCase> {};

TEST_P(DeriveTest, FillsWhatIsMissing) {
  const auto config = Complete(GetParam().text, GetParam().entries);
  EXPECT_EQ(config->name(), "m");
  EXPECT_EQ(config->platform(), GetParam().platform);
  EXPECT_EQ(config->backend(), GetParam().backend);
  EXPECT_EQ(config->default_model_filename(), GetParam().filename);
}

INSTANTIATE_TEST_SUITE_P(
    ByPlatform, DeriveTest,
    testing::Values(
        DeriveCase{"platform: \"tensorrt_plan\"", {}, "tensorrt_plan", "tensorrt", "model.plan"},
        DeriveCase{"platform: \"tensorflow_graphdef\"",
                   {},
                   "tensorflow_graphdef",
                   "tensorflow",
                   "model.graphdef"},
        DeriveCase{"platform: \"tensorflow_savedmodel\"",
                   {},
                   "tensorflow_savedmodel",
                   "tensorflow",
                   "model.savedmodel"},
        DeriveCase{"platform: \"caffe2_netdef\"", {}, "caffe2_netdef", "caffe2", "model.netdef"},
        DeriveCase{
            "platform: \"onnxruntime_onnx\"", {}, "onnxruntime_onnx", "onnxruntime", "model.onnx"},
        DeriveCase{"platform: \"pytorch_libtorch\"", {}, "pytorch_libtorch", "pytorch", "model.pt"},
        DeriveCase{"platform: \"custom\"", {}, "custom", "custom", "libcustom.so"},
        DeriveCase{"platform: \"torch_aoti\"", {}, "torch_aoti", "pytorch", "model.pt2"},
        DeriveCase{"platform: \"onnxruntime_onnx\" default_model_filename: \"x.onnx\"",
                   {},
                   "onnxruntime_onnx",
                   "onnxruntime",
                   "x.onnx"},
        DeriveCase{"platform: \"ensemble\"", {}, "ensemble", "", ""},
        DeriveCase{"platform: \"mxnet\"", {{"model.onnx"}}, "mxnet", "", ""}));

INSTANTIATE_TEST_SUITE_P(
    ByBackend, DeriveTest,
    testing::Values(
        DeriveCase{"backend: \"onnxruntime\"", {}, "onnxruntime_onnx", "onnxruntime", "model.onnx"},
        DeriveCase{"backend: \"tensorflow\"",
                   {{"model.savedmodel", true}},
                   "tensorflow_savedmodel",
                   "tensorflow",
                   "model.savedmodel"},
        DeriveCase{"backend: \"tensorflow\" default_model_filename: \"model.savedmodel\"",
                   {},
                   "tensorflow_savedmodel",
                   "tensorflow",
                   "model.savedmodel"},
        DeriveCase{"backend: \"python\"", {{"model.onnx"}}, "", "python", "model.py"},
        DeriveCase{"backend: \"python\" platform: \"onnxruntime_onnx\"",
                   {},
                   "onnxruntime_onnx",
                   "python",
                   "model.py"},
        DeriveCase{
            "backend: \"pytorch\" runtime: \"model.py\"", {}, "pytorch_libtorch", "pytorch", ""},
        DeriveCase{"backend: \"openvino\"", {}, "", "openvino", "model.xml"},
        DeriveCase{"backend: \"identity\"", {{"model.pt"}}, "", "identity", ""}));

INSTANTIATE_TEST_SUITE_P(
    ByFiles, DeriveTest,
    testing::Values(
        DeriveCase{"", {{"model.onnx"}}, "onnxruntime_onnx", "onnxruntime", "model.onnx"},
        DeriveCase{"", {{"model.onnx", true}}, "onnxruntime_onnx", "onnxruntime", "model.onnx"},
        DeriveCase{"", {{"model.plan"}, {"model.onnx"}}, "tensorrt_plan", "tensorrt", "model.plan"},
        DeriveCase{"",
                   {{"model.savedmodel", true}, {"model.graphdef"}},
                   "tensorflow_graphdef",
                   "tensorflow",
                   "model.graphdef"},
        DeriveCase{"", {{"model.savedmodel"}, {"model.py"}}, "", "python", "model.py"},
        DeriveCase{"",
                   {{"init_model.netdef"}, {"model.netdef"}},
                   "caffe2_netdef",
                   "caffe2",
                   "model.netdef"},
        DeriveCase{"default_model_filename: \"model.xml\"", {}, "", "openvino", "model.xml"}));

TEST(Derive, TakesTheBackendFromTheNameWhenNothingElseTells) {
  const auto config = Complete("", {}, "x.identity.y");
  EXPECT_EQ(config->backend(), "identity.y");
  EXPECT_EQ(config->default_model_filename(), "model.identity.y");
  const auto failed = CompleteModelConfig(*Parse(""), ModelFiles{"m", {}});
  EXPECT_EQ(failed.status().code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(failed.status().message(),
            "Invalid model name: Could not determine backend for model 'm' with no backend in "
            "model configuration. Expected model name of the form 'model.<backend_name>'.");
}

TEST(Derive, LooksIntoTheFirstVersionInTheOrderOfText) {
  const ModelFiles files{
      "m", {{".cache", {{"model.plan"}}}, {"2", {{"model.pt"}}}, {"10", {{"model.onnx"}}}}};
  const auto config = CompleteModelConfig(*Parse(""), files);
  ASSERT_TRUE(config.ok());
  EXPECT_EQ((*config)->backend(), "onnxruntime");
}

TEST(Normalize, FillsDefaults) {
  const auto config = Complete("backend: \"identity\" max_batch_size: 4 dynamic_batching { }");
  EXPECT_EQ(std::get<LatestVersions>(config->version_policy()).count, 1u);
  EXPECT_TRUE(config->proto().version_policy().has_latest());
  EXPECT_THAT(config->dynamic_batching()->preferred_batch_sizes, ElementsAre(4));
  EXPECT_TRUE(config->proto().optimization().input_pinned_memory().enable());
  EXPECT_TRUE(config->proto().optimization().output_pinned_memory().enable());
  EXPECT_TRUE(config->proto().instance_group().empty());
}

TEST(Normalize, KeepsWhatIsGiven) {
  const auto config = Complete(R"(backend: "identity" dynamic_batching { }
    version_policy { all { } } optimization { input_pinned_memory { enable: false } })");
  EXPECT_TRUE(std::holds_alternative<AllVersions>(config->version_policy()));
  EXPECT_TRUE(config->dynamic_batching()->preferred_batch_sizes.empty());
  EXPECT_FALSE(config->proto().optimization().input_pinned_memory().enable());
}

TEST(Normalize, FillsSequenceDefaults) {
  const auto config =
      Complete("backend: \"identity\" max_batch_size: 4 sequence_batching { oldest { } }");
  const auto& batching = config->proto().sequence_batching();
  EXPECT_EQ(batching.max_sequence_idle_microseconds(), 1000000u);
  EXPECT_THAT(batching.oldest().preferred_batch_size(), ElementsAre(4));
  const auto unset = Complete("backend: \"identity\" sequence_batching { }");
  EXPECT_EQ(unset->proto().sequence_batching().strategy_choice_case(),
            inference::ModelSequenceBatching::STRATEGY_CHOICE_NOT_SET);
}

TEST(Normalize, LeavesEnsemblesWithoutOptimization) {
  const auto config = Complete("platform: \"ensemble\" ensemble_scheduling { }");
  EXPECT_FALSE(config->proto().has_optimization());
  EXPECT_TRUE(config->is_ensemble());
}

ModelConfigPtr Groups(const std::string& text, const InstanceDefaults& defaults = {}) {
  return CompleteInstanceGroups(*Complete(text), defaults);
}

TEST(InstanceGroups, AddsOneNamedLikeTheModel) {
  const auto config = Groups("backend: \"identity\"");
  ASSERT_EQ(config->instance_groups().size(), 1u);
  EXPECT_EQ(config->instance_groups()[0].name, "m");
  EXPECT_EQ(config->instance_groups()[0].kind, InstanceKind::kCpu);
  EXPECT_EQ(config->instance_groups()[0].count, 1);
  EXPECT_TRUE(Groups("platform: \"ensemble\" ensemble_scheduling { }")->instance_groups().empty());
}

TEST(InstanceGroups, CountsNamedGroupsToo) {
  const auto config = Groups(R"(backend: "identity"
    instance_group [ { name: "gg" count: 3 }, { kind: KIND_MODEL } ])");
  EXPECT_EQ(config->instance_groups()[0].name, "gg");
  EXPECT_EQ(config->instance_groups()[0].count, 3);
  EXPECT_EQ(config->instance_groups()[1].name, "m_1");
  EXPECT_EQ(config->instance_groups()[1].kind, InstanceKind::kModel);
}

TEST(InstanceGroups, HasTwoInstancesOfFrameworksOnTheCpu) {
  EXPECT_EQ(Groups("backend: \"onnxruntime\"")->instance_groups()[0].count, 2);
  EXPECT_EQ(Groups("backend: \"onnxruntime\" instance_group [ { count: 1 } ]")
                ->instance_groups()[0]
                .count,
            1);
  EXPECT_EQ(Groups("backend: \"onnxruntime\"", {{0}, {}})->instance_groups()[0].count, 1);
}

TEST(InstanceGroups, SettlesAutoByTheGpusThatExist) {
  const InstanceDefaults two{{0, 1}, {}};
  const auto all = Groups("backend: \"identity\" instance_group [ { } ]", two);
  EXPECT_EQ(all->instance_groups()[0].kind, InstanceKind::kGpu);
  EXPECT_THAT(all->instance_groups()[0].gpus, ElementsAre(0, 1));
  const auto missing = Groups("backend: \"identity\" instance_group [ { gpus: [ 2 ] } ]", two);
  EXPECT_EQ(missing->instance_groups()[0].kind, InstanceKind::kCpu);
  EXPECT_TRUE(missing->instance_groups()[0].gpus.empty());
}

TEST(InstanceGroups, FollowsTheBackendsPreference) {
  InstanceDefaults defaults;
  defaults.preferred = {{InstanceKind::kGpu, 4, {}}, {InstanceKind::kCpu, 3, {}}};
  EXPECT_EQ(Groups("backend: \"identity\"", defaults)->instance_groups()[0].count, 3);
  EXPECT_EQ(Groups("backend: \"identity\" instance_group [ { kind: KIND_CPU } ]", defaults)
                ->instance_groups()[0]
                .count,
            3);
  defaults.gpus = {0};
  const auto gpu = Groups("backend: \"identity\"", defaults);
  EXPECT_EQ(gpu->instance_groups()[0].kind, InstanceKind::kGpu);
  EXPECT_EQ(gpu->instance_groups()[0].count, 4);
}

TEST(Merge, TakesWhatBackendsMayChange) {
  const auto config = Complete("backend: \"onnxruntime\" parameters { key: \"k\" value { } }");
  const auto merged = MergeBackendConfig(*config, R"({"name":"other","backend":"x",
    "max_batch_size":4,"dynamic_batching":{},"default_model_filename":"y",
    "input":[{"name":"a","data_type":"TYPE_FP32","dims":[4]}],
    "output":[{"name":"b","data_type":"TYPE_FP32","dims":[4]}],
    "model_transaction_policy":{"decoupled":true},"instance_group":[{"count":9}]})");
  ASSERT_TRUE(merged.ok()) << merged.status().message();
  EXPECT_EQ((*merged)->name(), "m");
  EXPECT_EQ((*merged)->backend(), "onnxruntime");
  EXPECT_EQ((*merged)->default_model_filename(), "model.onnx");
  EXPECT_EQ((*merged)->max_batch_size(), 4);
  EXPECT_THAT((*merged)->dynamic_batching()->preferred_batch_sizes, ElementsAre(4));
  EXPECT_NE((*merged)->FindInput("a"), nullptr);
  EXPECT_NE((*merged)->FindOutput("b"), nullptr);
  EXPECT_TRUE((*merged)->decoupled());
  EXPECT_TRUE((*merged)->instance_groups().empty());
  EXPECT_NE((*merged)->FindParameter("k"), nullptr);
}

TEST(Merge, KeepsTheScheduler) {
  const auto config = Complete("backend: \"identity\" max_batch_size: 8 sequence_batching { }");
  const auto kept = MergeBackendConfig(*config, R"({"max_batch_size":8})");
  ASSERT_TRUE(kept.ok());
  EXPECT_TRUE((*kept)->sequence_batching().has_value());
  const auto other = MergeBackendConfig(*config, R"({"dynamic_batching":{}})");
  EXPECT_EQ(other.status().code(), base::StatusCode::kInternal);
  EXPECT_THAT(other.status().message(),
              HasSubstr("Cannot update scheduling choice from sequence_batching to "
                        "dynamic_batching"));
  EXPECT_FALSE(MergeBackendConfig(*config, "{").ok());
}

TEST(ReadModelFiles, ListsSubdirectories) {
  namespace fs = std::filesystem;
  const fs::path root =
      fs::temp_directory_path() / ("nereid_model_files_" + std::to_string(::getpid()));
  fs::create_directories(root / "m" / "1" / "model.savedmodel");
  std::ofstream(root / "m" / "1" / "model.py") << "x";
  std::ofstream(root / "m" / "config.pbtxt") << "x";
  const auto files = ReadModelFiles((root / "m" / "").string());
  ASSERT_TRUE(files.ok()) << files.status().message();
  EXPECT_EQ(files->directory_name, "m");
  ASSERT_EQ(files->subdirectories.size(), 1u);
  const auto& entries = files->subdirectories.at("1");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "model.py");
  EXPECT_FALSE(entries[0].is_directory);
  EXPECT_TRUE(entries[1].is_directory);
  EXPECT_EQ(ReadModelFiles((root / "none").string()).status().code(), base::StatusCode::kNotFound);
  fs::remove_all(root);
}

}  // namespace
}  // namespace nereid::config
