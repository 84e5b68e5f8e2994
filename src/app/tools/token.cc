// SPDX-License-Identifier: Apache-2.0
#include "api/access/token.h"

#include <string>

#include "api/access/parse_access.h"
#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"

namespace nereid::app::tools {
namespace {

constexpr char kUsage[] =
    "Usage: nereid token create --role <role>[,<role>...] --name <name>\n\n"
    "Makes a token for a client, and the line for the file of --auth-file. The file has only a\n"
    "hash of the token, so the token is shown only once.\n\n";

constexpr ToolFlag kFlags[] = {
    {"role", "roles", "infer, observe or manage; several with commas in between"},
    {"name", "name", "Name of the token: 1 to 64 letters, digits, '-' and '_'"},
    {"help", "", "Print this text"},
};

}  // namespace

ToolResult RunToken(std::span<const std::string> words, const ToolContext& /*context*/) {
  const auto arguments = ToolArguments::Parse(kFlags, words);
  if (!arguments.ok()) return CannotRun("token", arguments.status().message());
  if (arguments->Has("help")) return {0, std::string(kUsage) + FlagsText(kFlags), ""};
  if (arguments->words().size() != 1 || arguments->words().front() != "create") {
    return CannotRun("token", "expected the word create");
  }
  std::string unknown;
  const auto roles = api::ParseRoles(arguments->Get("role"), &unknown);
  if (!roles) {
    return CannotRun("token",
                     "--role must be infer, observe or manage, or several of them with "
                     "commas in between. Got '" +
                         unknown + "'");
  }
  const std::string name = arguments->Get("name");
  if (!api::IsTokenName(name)) {
    return CannotRun("token",
                     "--name must have 1 to 64 letters, digits, '-' and '_'. Got '" + name + "'");
  }
  const auto token = api::MakeToken(name);
  if (!token.ok()) return CannotRun("token", token.status().message());
  return {0,
          "# The token, for the client. It is shown only now.\n" + token->text +
              "\n# The line for the file of --auth-file.\n" +
              api::TokenLine(name, {*roles, token->hash}) + "\n",
          ""};
}

}  // namespace nereid::app::tools
