// SPDX-License-Identifier: Apache-2.0
// The generators with one command whose texts contain every character that has a meaning for roff
// or a shell (golden files), and with the real commands, of which no flag may be missing.
#include "app/reference/reference.h"

#include <gtest/gtest.h>

#include "app/reference/command_list.h"
#include "app/reference/completion.h"
#include "app/reference/man_page.h"
#include "app/tools/testing/golden.h"

namespace nereid::app::reference {
namespace {

using tools::ExpectGolden;
using tools::SourceDirectory;

std::vector<Command> Sample() {
  Command serve{.name = "serve",
                .usage = "nereid serve <it's> [flags]",
                .summary = "serve \"all\" of them",
                .description = {".begins with a period", "'quoted' \\fB and $HOME `id` %s"},
                .flags = {}};
  serve.flags = {{"help", "h", "", "Print [this] text: all of it", ""},
                 {"format", "", "text|json", "It's the form; \\ is a backslash", "Output"},
                 {"file", "o", "path", "A file, $(not run)", "Output"},
                 {"size", "", "integer", "-1 = none", "Sizes"},
                 {"on", "", "boolean", "'yes' or \"no\"", "Sizes"}};
  return {serve, {"check", "nereid check", "check", {}, {{"url", "", "url", "A server", ""}}}};
}

std::string Golden(const std::string& name) {
  return SourceDirectory() + "/src/app/reference/golden/" + name;
}

TEST(ManPages, HaveTheForm) {
  ExpectGolden(Golden("nereid-serve.1"), ManPageOf(Sample()[0], "1.2.3"));
  ExpectGolden(Golden("nereid.1"), OverviewManPage(Sample(), "1.2.3"));
}

TEST(Completions, HaveTheForm) {
  ExpectGolden(Golden("nereid.bash"), BashCompletion(Sample()));
  ExpectGolden(Golden("nereid.zsh"), ZshCompletion(Sample()));
  ExpectGolden(Golden("nereid.fish"), FishCompletion(Sample()));
}

TEST(AllCommands, HaveUsageSummaryAndFlags) {
  const std::vector<Command> commands = AllCommands();
  ASSERT_GT(commands.size(), 5u);
  for (const Command& command : commands) {
    EXPECT_TRUE(command.usage.starts_with("nereid " + command.name)) << command.name;
    EXPECT_FALSE(command.summary.empty()) << command.name;
    EXPECT_FALSE(command.description.empty()) << command.name;
    EXPECT_FALSE(command.flags.empty()) << command.name;
    for (const Flag& flag : command.flags) {
      EXPECT_FALSE(flag.help.empty()) << command.name << " --" << flag.name;
    }
  }
}

TEST(AllCommands, AreInEachText) {
  const std::vector<Command> commands = AllCommands();
  const std::string bash = BashCompletion(commands);
  const std::string zsh = ZshCompletion(commands);
  const std::string fish = FishCompletion(commands);
  for (const Command& command : commands) {
    const auto page = ReferenceText(std::vector<std::string>{"man", command.name});
    ASSERT_TRUE(page.ok() && *page);
    for (const Flag& flag : command.flags) {
      EXPECT_NE(bash.find("--" + flag.name), std::string::npos) << flag.name;
      EXPECT_NE(zsh.find("*--" + flag.name), std::string::npos) << flag.name;
      EXPECT_NE(fish.find(" -l " + flag.name + " "), std::string::npos) << flag.name;
    }
  }
}

TEST(CommandFromHelp, ReadsUsageParagraphsAndFlags) {
  const Command command = CommandFromHelp("init", "write",
                                          "Usage: nereid init <file>\n\nFirst line\nsecond.\n\n"
                                          "Exit codes: 0.\n\nFlags:\n  -o, --output <path>\n"
                                          "        Output\n        file\n  --force\n        Do\n");
  EXPECT_EQ(command.usage, "nereid init <file>");
  EXPECT_EQ(command.description,
            (std::vector<std::string>{"First line second.", "Exit codes: 0."}));
  ASSERT_EQ(command.flags.size(), 2u);
  EXPECT_EQ(command.flags[0].name, "output");
  EXPECT_EQ(command.flags[0].short_name, "o");
  EXPECT_EQ(command.flags[0].value_form, "path");
  EXPECT_EQ(command.flags[0].help, "Output file");
  EXPECT_EQ(command.flags[1].name, "force");
  EXPECT_EQ(command.flags[1].value_form, "");
}

TEST(ChoicesOf, AreThoseOfForms) {
  const auto choices = [](const char* form) { return ChoicesOf({"f", "", form, "", ""}); };
  EXPECT_EQ(choices("text|json"), (std::vector<std::string>{"text", "json"}));
  EXPECT_EQ(choices("boolean"), (std::vector<std::string>{"true", "false"}));
  EXPECT_EQ(choices("boolean|sent"), (std::vector<std::string>{"true", "false", "sent"}));
  EXPECT_TRUE(choices("integer").empty());
  EXPECT_TRUE(choices("a,b|c d").empty());
}

TEST(ReferenceText, KnowsItsWords) {
  using Words = std::vector<std::string>;
  EXPECT_TRUE(ReferenceText(Words{"serve"}).ok());
  EXPECT_FALSE(ReferenceText(Words{"serve"})->has_value());
  EXPECT_FALSE(ReferenceText(Words{})->has_value());
  EXPECT_TRUE(ReferenceText(Words{"man"})->has_value());
  EXPECT_EQ(ReferenceText(Words{"man", "x\ny"}).status().message(),
            "help man: there is no command 'x?y'");
  EXPECT_TRUE(ReferenceText(Words{"completion", "fish"})->has_value());
  EXPECT_EQ(ReferenceText(Words{"completion"}).status().message(),
            "help completion: '' is not one of bash, zsh and fish");
}

}  // namespace
}  // namespace nereid::app::reference
