// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "api/access/parse_access.h"
#include "app/tools/tool.h"

namespace nereid::app::tools {
namespace {

using ::testing::HasSubstr;

ToolResult Ask(std::vector<std::string> words) { return RunToken(words, {}); }

TEST(TokenTool, TheLineAdmitsTheToken) {
  const ToolResult result = Ask({"create", "--role", "infer,observe", "--name=ci"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  std::istringstream lines(result.out);
  std::string comment, token, line;
  std::getline(lines, comment);
  std::getline(lines, token);
  std::getline(lines, comment);
  std::getline(lines, line);
  EXPECT_EQ(token.substr(0, 3), "ci.");
  EXPECT_EQ(token.size(), 3u + 43u);
  EXPECT_EQ(line.find(token.substr(3)), std::string::npos) << "the file has the token";
  // The whole output is a file, too: the token's own line is the only one that is wrong in it.
  const auto policy = api::ParseAccess(line);
  ASSERT_TRUE(policy.ok()) << policy.status().message();
  const std::vector<api::HeaderField> fields = {{"authorization", "Bearer " + token}};
  const auto roles = (*policy)->RolesOf({.fields = fields});
  ASSERT_TRUE(roles.has_value());
  EXPECT_EQ(api::RoleWords(*roles), "infer,observe");
}

TEST(TokenTool, TwoTokensDiffer) {
  EXPECT_NE(Ask({"create", "--role=infer", "--name=a"}).out,
            Ask({"create", "--role=infer", "--name=a"}).out);
}

TEST(TokenTool, SaysWhatIsWrong) {
  EXPECT_THAT(Ask({}).errors, HasSubstr("expected the word create"));
  EXPECT_THAT(Ask({"revoke"}).errors, HasSubstr("expected the word create"));
  EXPECT_THAT(Ask({"create", "--name=a"}).errors, HasSubstr("--role must be infer, observe"));
  EXPECT_THAT(Ask({"create", "--name=a", "--role=admin"}).errors, HasSubstr("Got 'admin'"));
  EXPECT_THAT(Ask({"create", "--role=infer"}).errors, HasSubstr("--name must have 1 to 64"));
  EXPECT_THAT(Ask({"create", "--role=infer", "--name=a.b"}).errors, HasSubstr("Got 'a.b'"));
  EXPECT_THAT(Ask({"--help"}).out, HasSubstr("Usage: nereid token create"));
  EXPECT_EQ(Ask({"create"}).exit_code, kCannotRun);
}

}  // namespace
}  // namespace nereid::app::tools
