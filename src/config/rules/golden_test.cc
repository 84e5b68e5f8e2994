// SPDX-License-Identifier: Apache-2.0
// testdata/rules/<rule>/<case>.pbtxt: a configuration that breaks the rule. The comments before it
// state the expected result:
//   # says: <the message of ValidateModelConfig; absent if there are only warnings>
//   # at: <rule> <field>          one line for each problem, in order
// and the circumstances, if they are not the usual ones:
//   # gpus: 2                     the machine has two GPUs
//   # raw                         the configuration is used as written; otherwise it is completed
//                                 first, as the server does in a directory "m" with an empty
//                                 version
// With NEREID_UPDATE_GOLDEN set, the test rewrites the "says" and "at" lines.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "base/files.h"
#include "config/complete/complete.h"
#include "config/complete/instance_groups.h"
#include "config/parse/parse.h"
#include "config/rules/find_problems.h"
#include "config/rules/validate.h"
#include "config/testing/testdata.h"

namespace nereid::config {
namespace {

std::string GoldenDirectory() { return TestData("rules"); }

struct Golden {
  bool raw = false;
  int gpu_count = 0;
  /// The says and at lines.
  std::string expectation;
  /// The comments that are not expectations.
  std::string settings;
  std::string config;
};

Golden ReadGolden(const std::string& path) {
  Golden golden;
  const auto text = base::ReadFile(path);
  EXPECT_TRUE(text.ok()) << text.status().message();
  if (!text.ok()) return golden;
  std::istringstream lines(*text);
  bool in_header = true;
  for (std::string line; std::getline(lines, line);) {
    in_header = in_header && line.starts_with("# ");
    if (!in_header) {
      golden.config += line + "\n";
    } else if (line.starts_with("# says: ") || line.starts_with("# at: ")) {
      golden.expectation += line + "\n";
    } else {
      golden.settings += line + "\n";
      golden.raw |= line == "# raw";
      if (line.starts_with("# gpus: ")) golden.gpu_count = std::atoi(line.c_str() + 8);
    }
  }
  return golden;
}

ModelConfigPtr Configure(const Golden& golden) {
  auto config = ParseModelConfigText(golden.config, "config.pbtxt");
  EXPECT_TRUE(config.ok()) << config.status().message();
  if (!config.ok() || golden.raw) return config.ok() ? *config : nullptr;
  ModelFiles files;
  files.directory_name = "m";
  files.subdirectories["1"];
  config = CompleteModelConfig(**config, files);
  EXPECT_TRUE(config.ok()) << config.status().message();
  if (!config.ok()) return nullptr;
  InstanceDefaults defaults;
  for (int i = 0; i < golden.gpu_count; ++i) defaults.gpus.push_back(i);
  return CompleteInstanceGroups(**config, defaults);
}

std::string Judge(const Golden& golden) {
  const ModelConfigPtr config = Configure(golden);
  if (config == nullptr) return "";
  const auto options = ValidateOptions::ForAll(golden.gpu_count, golden.raw ? "" : "m");
  const base::Status status = ValidateModelConfig(*config, options);
  std::string text = status.ok() ? "" : "# says: " + status.message() + "\n";
  for (const Problem& problem : FindProblems(*config, options)) {
    text += "# at: " + problem.rule + " " + problem.field + "\n";
  }
  // The file stays text, whatever the message quotes.
  for (size_t at = 0; (at = text.find('\0', at)) != std::string::npos;) text.replace(at, 1, "\\0");
  return text;
}

std::vector<std::string> RuleIds() {
  std::vector<std::string> ids;
  for (const RuleInfo& rule : AllRules()) ids.emplace_back(rule.id);
  return ids;
}

/// "<rule>/<case>"
std::vector<std::string> Cases() {
  std::vector<std::string> cases;
  const auto folders = base::ListSubdirectories(GoldenDirectory());
  if (!folders.ok()) return cases;
  for (const std::string& folder : *folders) {
    const auto files = base::ListDirectory(GoldenDirectory() + "/" + folder);
    if (!files.ok()) continue;
    for (const std::string& file : *files) {
      cases.push_back(folder + "/" + file.substr(0, file.find('.')));
    }
  }
  return cases;
}

class GoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, SaysWhatIsWrong) {
  const std::string path = GoldenDirectory() + "/" + GetParam() + ".pbtxt";
  const Golden golden = ReadGolden(path);
  const std::string judged = Judge(golden);
  if (std::getenv("NEREID_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << golden.settings << judged << golden.config;
    GTEST_SKIP() << "written";
  }
  EXPECT_EQ(judged, golden.expectation) << path;
  const std::string rule = GetParam().substr(0, GetParam().find('/'));
  EXPECT_NE(judged.find("# at: " + rule + " "), std::string::npos) << "does not break its rule";
}

INSTANTIATE_TEST_SUITE_P(Rules, GoldenTest, testing::ValuesIn(Cases()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST(GoldenFolders, EveryRuleHasOne) {
  const auto ids = RuleIds();
  const std::set<std::string> known(ids.begin(), ids.end());
  EXPECT_EQ(known.size(), ids.size()) << "two rules have the same id";
  const auto folders = base::ListSubdirectories(GoldenDirectory());
  ASSERT_TRUE(folders.ok());
  const std::set<std::string> present(folders->begin(), folders->end());
  for (const std::string& id : ids) EXPECT_TRUE(present.contains(id)) << id << " has no golden";
  for (const std::string& folder : present) EXPECT_TRUE(known.contains(folder)) << folder;
  EXPECT_GE(Cases().size(), 150u);
}

// A field without the positions and keys: "input[0].dims[1]" is "input.dims".
std::string WithoutPositions(const std::string& field) {
  std::string plain;
  int depth = 0;
  for (const char c : field) {
    if (c == '[') ++depth;
    if (depth == 0) plain += c;
    if (c == ']') --depth;
  }
  return plain;
}

// `list`: as in RuleInfo::field.
bool BelongsTo(const std::string& field, const std::string& list) {
  if (list == "*") return true;
  std::istringstream names(list);
  for (std::string name; names >> name;) {
    if (name.ends_with(',')) name.pop_back();
    if (name.starts_with("output")) name.replace(0, 6, "input");
    if (field.starts_with(name)) return true;
  }
  return false;
}

TEST(GoldenFolders, ProblemsAreWhereTheirRulesSay) {
  std::map<std::string, std::string> fields;
  for (const RuleInfo& rule : AllRules()) fields[std::string(rule.id)] = rule.field;
  for (const std::string& name : Cases()) {
    const Golden golden = ReadGolden(GoldenDirectory() + "/" + name + ".pbtxt");
    const ModelConfigPtr config = Configure(golden);
    ASSERT_NE(config, nullptr) << name;
    const auto options = ValidateOptions::ForAll(golden.gpu_count, "m");
    for (const Problem& problem : FindProblems(*config, options)) {
      std::string field = WithoutPositions(problem.field);
      // Rules of tensors name inputs, and hold for outputs.
      if (field.starts_with("output")) field.replace(0, 6, "input");
      EXPECT_TRUE(BelongsTo(field, fields.at(problem.rule))) << name << ": " << problem.field;
    }
  }
}

}  // namespace
}  // namespace nereid::config
