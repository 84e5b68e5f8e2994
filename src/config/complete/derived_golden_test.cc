// SPDX-License-Identifier: Apache-2.0
// testdata/derived/<case>.pbtxt: configurations that omit fields. Comments before them describe the
// model's directory:
//   # directory: m.identity        its name; "m" by default
//   # holds: 1/model.onnx, 2/x/    its files and ("/") directories; an empty "1" by default
// The .json file with the same name contains the configuration that a client receives, or the
// error, on a machine without GPUs and from a backend that completes nothing. tests/peer compares
// it with the answer of the real Triton. With NEREID_UPDATE_GOLDEN set, the test rewrites these
// files.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/files.h"
#include "config/complete/complete.h"
#include "config/complete/instance_groups.h"
#include "config/describe/describe.h"
#include "config/parse/parse.h"
#include "config/rules/validate.h"
#include "config/testing/testdata.h"

namespace nereid::config {
namespace {

std::string Directory() { return TestData("derived"); }

std::vector<std::string> Cases() {
  std::vector<std::string> cases;
  for (const std::string& file : TestDataFiles("derived")) {
    if (file.ends_with(".pbtxt")) cases.push_back(file.substr(0, file.find('.')));
  }
  return cases;
}

// The rest of the comment line that begins with `key`; empty if there is none.
std::string Setting(const std::string& text, const std::string& key) {
  const std::string begin = "# " + key + ": ";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && line.starts_with('#');) {
    if (line.starts_with(begin)) return line.substr(begin.size());
  }
  return "";
}

// "1/model.onnx, 2/x/"
ModelFiles FilesOf(const std::string& directory, const std::string& holds) {
  ModelFiles files;
  files.directory_name = directory.empty() ? "m" : directory;
  if (holds.empty()) files.subdirectories["1"];
  std::istringstream paths(holds);
  for (std::string path; paths >> path;) {
    if (path.ends_with(',')) path.pop_back();
    const size_t slash = path.find('/');
    ModelFiles::Entry entry{path.substr(slash + 1), path.ends_with('/')};
    if (entry.is_directory) entry.name.pop_back();
    files.subdirectories[path.substr(0, slash)].push_back(entry);
  }
  return files;
}

std::string Error(const base::Status& status) { return "{\"error\":\"" + status.message() + "\"}"; }

std::string Answer(const ModelConfig& written, const ModelFiles& files) {
  const auto completed = CompleteModelConfig(written, files);
  if (!completed.ok()) return Error(completed.status());
  const ModelConfigPtr config = CompleteInstanceGroups(**completed, {});
  const auto valid = ValidateModelConfig(*config, ValidateOptions::ForAll(0, files.directory_name));
  return valid.ok() ? DescribeModelConfigJson(*config) : Error(valid);
}

class DerivedTest : public testing::TestWithParam<std::string> {};

TEST_P(DerivedTest, GivesWhatClientsRead) {
  const std::string path = Directory() + "/" + GetParam();
  const auto text = base::ReadFile(path + ".pbtxt");
  ASSERT_TRUE(text.ok());
  const auto parsed = ParseModelConfigText(*text, path);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  const ModelFiles files = FilesOf(Setting(*text, "directory"), Setting(*text, "holds"));
  const std::string answer = Answer(**parsed, files) + "\n";
  if (std::getenv("NEREID_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path + ".json") << answer;
    GTEST_SKIP() << "written";
  }
  const auto expected = base::ReadFile(path + ".json");
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  EXPECT_EQ(answer, *expected);
}

INSTANTIATE_TEST_SUITE_P(Config, DerivedTest, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param; });

TEST(DerivedConfigurations, AreThere) { EXPECT_GE(Cases().size(), 70u); }

}  // namespace
}  // namespace nereid::config
