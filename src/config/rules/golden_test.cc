// SPDX-License-Identifier: Apache-2.0
// Every rule has a folder golden/<id> with a configuration that breaks it and the text that comes
// of it. A comment in the first line may say how to validate:
//   # validate: load, gpu_count: 1
//   # validate: poll, directory: other
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "base/files.h"
#include "config/parse.h"
#include "config/rules/validate.h"

namespace nereid::config {
namespace {

std::string GoldenDirectory() {
  const char* source = std::getenv("NEREID_SOURCE_DIR");
  return std::string(source == nullptr ? "." : source) + "/src/config/rules/golden";
}

// The text between `key` and the next comma or line end of the first line; empty if it is absent.
std::string Directive(const std::string& text, const std::string& key) {
  const std::string line = text.substr(0, text.find('\n'));
  const size_t at = line.find(key);
  if (!line.starts_with("# validate: ") || at == std::string::npos) return "";
  const size_t begin = at + key.size();
  return line.substr(begin, line.find(',', begin) - begin);
}

ValidateOptions OptionsFor(const std::string& text) {
  if (Directive(text, "validate: ") == "load") {
    return ValidateOptions::ForLoad(std::atoi(Directive(text, "gpu_count: ").c_str()));
  }
  return ValidateOptions::ForPoll(/*strict=*/true, Directive(text, "directory: "));
}

std::vector<std::string> RuleIds() {
  std::vector<std::string> ids;
  for (const RuleInfo& rule : AllRules()) ids.emplace_back(rule.id);
  return ids;
}

class GoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, SaysWhatIsWrong) {
  const std::string folder = GoldenDirectory() + "/" + GetParam();
  const auto text = base::ReadFile(folder + "/config.pbtxt");
  ASSERT_TRUE(text.ok()) << "rule " << GetParam() << " needs a folder " << folder;
  auto message = base::ReadFile(folder + "/message.txt");
  ASSERT_TRUE(message.ok()) << message.status().message();
  ASSERT_TRUE(message->ends_with('\n'));
  message->pop_back();
  const auto config = ParseModelConfigText(*text, folder);
  ASSERT_TRUE(config.ok()) << config.status().message();
  const base::Status status = ValidateModelConfig(**config, OptionsFor(*text));
  EXPECT_EQ(status.code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), *message);
}

INSTANTIATE_TEST_SUITE_P(Rules, GoldenTest, testing::ValuesIn(RuleIds()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) c = c == '.' ? '_' : c;
  return name;
});

TEST(GoldenFolders, BelongToRules) {
  const auto ids = RuleIds();
  const std::set<std::string> known(ids.begin(), ids.end());
  EXPECT_EQ(known.size(), ids.size()) << "two rules have the same id";
  const auto folders = base::ListSubdirectories(GoldenDirectory());
  ASSERT_TRUE(folders.ok());
  for (const std::string& folder : *folders) EXPECT_TRUE(known.contains(folder)) << folder;
}

}  // namespace
}  // namespace nereid::config
