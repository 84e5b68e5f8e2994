// SPDX-License-Identifier: Apache-2.0
// Compares the output of nereid check with golden files. NEREID_UPDATE_GOLDEN=1 rewrites them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "app/tools/report_text.h"
#include "app/tools/testing/golden.h"
#include "app/tools/tool.h"

namespace nereid::app::tools {
namespace {

namespace fs = std::filesystem;

class CheckTest : public testing::Test {
 protected:
  // The golden repositories are given as relative paths, because the paths are in the output.
  void SetUp() override { fs::current_path(SourceDirectory() + "/src/app/tools/golden"); }
  void TearDown() override { fs::current_path(SourceDirectory()); }

  static ToolResult Check(std::vector<std::string> words) { return RunCheck(words, {}); }
};

TEST_F(CheckTest, FindsTenFaultsInOneRun) {
  const ToolResult result = Check({"ten_faults/models", "--backend-directory=ten_faults/backends"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.errors, "");
  ExpectGolden("ten_faults/report.txt", result.out);
  for (const char* rule :
       {"text.unknown_field", "text.enum_value", "text.syntax", "dynamic.preferred_max",
        "files.model", "files.labels", "versions.none", "directory.name", "files.backend_library",
        "members.exist", "members.data_type", "versions.ignored"}) {
    EXPECT_THAT(result.out, testing::HasSubstr(std::string("[") + rule + "]"));
  }
}

TEST_F(CheckTest, PrintsJson) {
  const ToolResult result =
      Check({"ten_faults/models", "--format=json", "--backend-directory", "ten_faults/backends"});
  EXPECT_EQ(result.exit_code, 1);
  ExpectGolden("ten_faults/report.json", result.out);
}

TEST_F(CheckTest, ChecksOneModel) {
  const ToolResult result = Check({"ten_faults/models/too_large"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out,
            "ten_faults/models/too_large/config.pbtxt:4:47: error: dynamic batching preferred size "
            "must be <= max batch size for too_large [dynamic.preferred_max]\n"
            "    field:    dynamic_batching.preferred_batch_size[1]\n"
            "    expected: at most 4 (max_batch_size)\n"
            "    remedy:   Lower the preferred size, or raise max_batch_size.\n"
            "1 error, no warnings in 1 model\n");
}

TEST_F(CheckTest, FindsNothing) {
  const ToolResult result = Check({"ten_faults/backends/identity", "--format", "json"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            "{\"format\":1,\"models\":0,\"errors\":0,\"warnings\":0,\"findings\":[]}\n");
  EXPECT_EQ(Check({"ten_faults/models/no_backend"}).out, "no errors, no warnings in 1 model\n");
}

TEST_F(CheckTest, WarningsAreErrorsOnlyOnRequest) {
  const fs::path root =
      fs::temp_directory_path() / ("nereid_check_tool_" + std::to_string(getpid()));
  fs::create_directories(root / "m/1");
  fs::create_directories(root / "m/old");
  std::ofstream(root / "m/config.pbtxt") << "backend: \"identity\"";
  EXPECT_EQ(Check({root.string()}).exit_code, 0);
  EXPECT_THAT(Check({root.string()}).out, testing::HasSubstr("no errors, 1 warning in 1 model"));
  EXPECT_EQ(Check({root.string(), "--warnings-as-errors"}).exit_code, 1);
  std::ofstream(root / "m/config.pbtxt")
      << "backend: \"identity\" instance_group { kind: KIND_GPU gpus: 3 }";
  fs::remove(root / "m/old");
  EXPECT_EQ(Check({root.string()}).exit_code, 0);
  EXPECT_EQ(Check({root.string(), "--gpu-count=4"}).exit_code, 0);
  EXPECT_EQ(Check({root.string(), "--gpu-count=3"}).exit_code, 1);
  ToolContext machine;
  const auto with_gpus = [](std::vector<int> ordinals) {
    std::vector<device::Gpu> gpus;
    for (const int ordinal : ordinals) gpus.emplace_back().ordinal = ordinal;
    return [gpus](double) { return device::Gpus(gpus, 0); };
  };
  machine.find_gpus = with_gpus({0, 3});
  const std::vector<std::string> words = {root.string()};
  EXPECT_EQ(RunCheck(words, machine).exit_code, 0);
  machine.find_gpus = with_gpus({0, 1});
  EXPECT_THAT(RunCheck(words, machine).out, testing::HasSubstr("invalid or unsupported gpu id 3"));
  machine.find_gpus = with_gpus({});
  EXPECT_EQ(RunCheck(words, machine).exit_code, 0) << "not checked";
  fs::remove(root / "m/config.pbtxt");
  std::ofstream(root / "m/1/model.onnx") << "anything";
  EXPECT_EQ(Check({root.string()}).exit_code, 0);
  EXPECT_EQ(Check({root.string(), "--strict-model-config=false"}).exit_code, 0);
  EXPECT_EQ(Check({root.string(), "--strict-model-config=true"}).exit_code, 1);
  EXPECT_EQ(Check({root.string(), "--disable-auto-complete-config"}).exit_code, 1);
  fs::remove_all(root);
}

TEST_F(CheckTest, ReportsWhyItCannotRun) {
  const auto error = [](const std::vector<std::string>& words) {
    const ToolResult result = Check(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    return result.errors.substr(0, result.errors.find('\n'));
  };
  EXPECT_EQ(error({}), "nereid check: expected a model repository or a model directory");
  EXPECT_EQ(error({"/no/such"}), "nereid check: no such directory: /no/such");
  EXPECT_EQ(error({"ten_faults/report.txt"}),
            "nereid check: not a directory: ten_faults/report.txt");
  EXPECT_EQ(error({"ten_faults", "--format=xml"}),
            "nereid check: --format must be text or json, not 'xml'");
  EXPECT_EQ(error({"ten_faults", "--backend-directory=/no/such"}),
            "nereid check: no such backend directory: /no/such");
  EXPECT_THAT(error({"ten_faults", "--gpu-count=x"}),
              testing::StartsWith("nereid check: --gpu-count: "));
  EXPECT_THAT(error({"ten_faults", "--strict-model-config=x"}),
              testing::StartsWith("nereid check: --strict-model-config: "));
}

TEST_F(CheckTest, ListsTheRules) {
  EXPECT_THAT(Check({"--list-rules"}).out, testing::HasSubstr("files.model\n    Every version"));
  EXPECT_THAT(
      Check({"--list-rules", "--format=json"}).out,
      testing::HasSubstr("{\"rule\":\"files.model\",\"field\":\"default_model_filename\","));
}

// docs/user/config_rules.md is this output.
TEST_F(CheckTest, DocumentOfRulesIsUpToDate) {
  ExpectGolden(SourceDirectory() + "/docs/user/config_rules.md",
               Check({"--list-rules", "--format=markdown"}).out);
}

TEST(ReportText, IsSafeToPrint) {
  repository::CheckReport report;
  report.models = 1;
  repository::Finding finding;
  finding.file = "a\x1b[1m\xff";
  finding.message = "line\nbreak \"quoted\"";
  finding.rule = "r";
  report.findings = {finding};
  EXPECT_EQ(ReportText(report),
            "a?[1m\xff: error: line?break \"quoted\" [r]\n1 error, no warnings in 1 model\n");
  EXPECT_THAT(ReportJson(report),
              testing::HasSubstr("\"file\":\"a\\u001B[1m\xEF\xBF\xBD\",\"line\":null"));
  std::string member;
  base::JsonWriter json(&member);
  WriteMember("k", "\xC3\xA4\xff\xE2\x82", &json);
  EXPECT_EQ(member, "\"k\":\"\xC3\xA4\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace nereid::app::tools
