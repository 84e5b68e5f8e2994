// SPDX-License-Identifier: Apache-2.0
#include "app/tools/tool_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/tools/tool.h"

namespace nereid::app::tools {
namespace {

constexpr ToolFlag kFlags[] = {
    {"format", "text|json", "How to print"},
    {"output,o", "path", "Where to"},
    {"all", "", "Everything"},
};

base::Result<ToolArguments> Parse(std::vector<std::string> words) {
  return ToolArguments::Parse(kFlags, words);
}

TEST(ToolFlags, TakesValuesInEverySpelling) {
  const auto arguments = Parse({"a", "--format=json", "-o", "x", "b", "--all", "--", "--c"});
  ASSERT_TRUE(arguments.ok());
  EXPECT_EQ(arguments->Get("format"), "json");
  EXPECT_EQ(arguments->Get("output"), "x");
  EXPECT_TRUE(arguments->Has("all"));
  EXPECT_THAT(arguments->words(), testing::ElementsAre("a", "b", "--c"));
  EXPECT_EQ(Parse({"--format", "text", "--format", "json", "-"})->Get("format"), "json");
  EXPECT_THAT(Parse({"--format=a", "--format=b"})->All("format"), testing::ElementsAre("a", "b"));
  EXPECT_TRUE(Parse({})->All("format").empty());
  EXPECT_EQ(Parse({"--output="})->Get("output", "other"), "");
  EXPECT_EQ(Parse({})->Get("output", "other"), "other");
}

TEST(ToolFlags, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(Parse({"--nothing"}).status().message(),
            "unknown flag --nothing, --help lists the flags");
  EXPECT_EQ(Parse({"-x"}).status().message(), "unknown flag -x, --help lists the flags");
  EXPECT_EQ(Parse({"--=1"}).status().message(), "unknown flag --=1, --help lists the flags");
  EXPECT_EQ(Parse({"--all=1"}).status().message(), "the flag --all takes no value");
  EXPECT_EQ(Parse({"-o"}).status().message(), "the flag --output needs a value: <path>");
}

TEST(Tools, AreFoundByName) {
  EXPECT_EQ(FindTool("none"), nullptr);
  for (const Tool& tool : AllTools()) {
    ASSERT_EQ(FindTool(tool.name), &tool);
    const std::vector<std::string> help = {"--help"};
    const ToolResult result = tool.run(help, {});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(result.out.starts_with("Usage: nereid " + std::string(tool.name)));
    EXPECT_EQ(result.errors, "");
    const std::vector<std::string> wrong = {"--no-such-flag"};
    EXPECT_EQ(tool.run(wrong, {}).exit_code, kCannotRun);
    EXPECT_EQ(tool.run(wrong, {}).errors, "nereid " + std::string(tool.name) +
                                              ": unknown flag --no-such-flag, --help lists the "
                                              "flags\nSee nereid " +
                                              std::string(tool.name) + " --help.\n");
    // `routes`, `gpus` and `doctor` need no words: they list what there is, here no GPU and no
    // backend. The others lack
    // words, or a client for HTTP.
    const bool looks = tool.name == "gpus" || tool.name == "doctor";
    const int none = looks ? 1 : kCannotRun;
    EXPECT_EQ(tool.run({}, {}).exit_code, tool.name == "routes" ? 0 : none);
  }
}

}  // namespace
}  // namespace nereid::app::tools
