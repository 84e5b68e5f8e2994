// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "app/options/command_line.h"

namespace nereid::app {
namespace {

base::Result<ParsedCommandLine> ParseServe(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"nereid", "serve", "--model-repository=/m"});
  CommandLineContext context;
  context.environment = [](const char*) -> const char* { return nullptr; };
  return ParseCommandLine(flags, context);
}

ConsoleOptions ConsoleOf(const std::vector<std::string>& flags) {
  return ParseServe(flags).value().options.console;
}

TEST(ConsoleFlags, AreOffUnlessAPortOrASocketIsGiven) {
  EXPECT_FALSE(ConsoleOf({}).port.has_value());
  EXPECT_EQ(ConsoleOf({"--console-port=8003"}).port, 8003);
  EXPECT_EQ(ConsoleOf({"--console-port=8003"}).address, "127.0.0.1");
  EXPECT_EQ(ConsoleOf({"--console-port=0", "--console-address=::1"}).address, "::1");
  EXPECT_TRUE(ConsoleOf({"--console-address=unix:/c"}).port.has_value());
}

TEST(ConsoleFlags, RefuseWhatCannotBe) {
  EXPECT_EQ(ParseServe({"--console-address=0.0.0.0"}).status().message(),
            "--console-address needs --console-port");
  EXPECT_EQ(ParseServe({"--console-port=8000", "--console-address=0.0.0.0"}).status().message(),
            "The server cannot listen to HTTP requests and console requests at the same address "
            "and port 0.0.0.0:8000");
  EXPECT_FALSE(ParseServe({"--console-port=65536"}).ok());
}

}  // namespace
}  // namespace nereid::app
