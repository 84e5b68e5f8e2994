// SPDX-License-Identifier: Apache-2.0
#include "base/log_entry.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace nereid::base {
namespace {

// 2026-11-21T10:56:01.123456Z
constexpr LogOrigin kOrigin{.time = {1795258561, 123456789}, .pid = 4711};
constexpr LogFormat kFormats[] = {LogFormat::kDefault, LogFormat::kIso8601, LogFormat::kJson};

LogEntry Entry(std::string_view message) {
  return {.level = LogLevel::kWarning, .file = "/src/a/file.cc", .line = 12, .message = message};
}

std::string Quoted(std::string_view text) {
  std::string out;
  AppendLogQuoted(text, &out);
  return out;
}

TEST(LogEntryTest, HasThreeFormats) {
  LogEntry entry = Entry("a \"b\"");
  entry.subject = {.model = "m", .request_id = "7", .trace_id = "0af7"};
  entry.json_members = R"("status":200)";
  EXPECT_EQ(FormatLogEntry(entry, LogFormat::kDefault, kOrigin),
            "W1121 10:56:01.123456 4711 file.cc:12] \"a \\\"b\\\"\"\n");
  EXPECT_EQ(FormatLogEntry(entry, LogFormat::kIso8601, kOrigin),
            "2026-11-21T10:56:01Z W 4711 file.cc:12] \"a \\\"b\\\"\"\n");
  EXPECT_EQ(FormatLogEntry(entry, LogFormat::kJson, kOrigin),
            R"({"time":"2026-11-21T10:56:01.123456Z","level":"WARNING","pid":4711,)"
            R"("file":"file.cc","line":12,"message":"a \"b\"","model":"m","request_id":"7",)"
            R"("trace_id":"0af7","status":200})"
            "\n");
}

TEST(LogEntryTest, WithoutASubjectJsonHasNoMembersForIt) {
  EXPECT_EQ(FormatLogEntry(Entry("x"), LogFormat::kJson, kOrigin),
            R"({"time":"2026-11-21T10:56:01.123456Z","level":"WARNING","pid":4711,)"
            R"("file":"file.cc","line":12,"message":"x"})"
            "\n");
}

TEST(LogEntryTest, ATableFollowsItsLineAndIsPartOfTheMessageInJson) {
  LogEntry entry = Entry("");
  entry.table = "+--+\n| x |\n";
  EXPECT_EQ(FormatLogEntry(entry, LogFormat::kDefault, kOrigin),
            "W1121 10:56:01.123456 4711 file.cc:12] \"\"\n+--+\n| x |\n");
  const std::string json = FormatLogEntry(entry, LogFormat::kJson, kOrigin);
  EXPECT_NE(json.find(R"("message":"+--+\n| x |\n")"), std::string::npos) << json;
  EXPECT_EQ(std::count(json.begin(), json.end(), '\n'), 1);
}

TEST(LogEntryTest, AMessageMayBeWrittenAsItIsInTheTextFormats) {
  LogOrigin raw = kOrigin;
  raw.quote = false;
  EXPECT_EQ(FormatLogEntry(Entry("a \"b\""), LogFormat::kDefault, raw),
            "W1121 10:56:01.123456 4711 file.cc:12] a \"b\"\n");
  EXPECT_NE(FormatLogEntry(Entry("a\nb"), LogFormat::kJson, raw).find(R"("a\nb")"),
            std::string::npos);
}

TEST(LogEntryTest, HiddenCharactersAreShown) {
  EXPECT_EQ(Quoted("plain ~"), "\"plain ~\"");
  EXPECT_EQ(Quoted("a\r\n\x1b[2J\x7f"), R"("a\r\n\u001B[2J\u007F")");
  EXPECT_EQ(Quoted("\xc2\x85\xc2\x9b\xc2\xa0"), "\"\\u0085\\u009B\xc2\xa0\"");
  EXPECT_EQ(Quoted("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xae\xe2\x81\xa6\xd8\x9c"),
            R"("\u2028\u2029\u202E\u2066\u061C")");
  EXPECT_EQ(Quoted("\xe2\x82\xac\xd8\xa7\xe2\x80\x93"), "\"\xe2\x82\xac\xd8\xa7\xe2\x80\x93\"");
  EXPECT_EQ(Quoted("a\xff\xe2\x80"), "\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(Quoted(std::string_view("\0", 1)), R"("\u0000")");
}

// Whoever chooses a name, an id or a file name must not be able to write a line of the log.
TEST(LogEntryTest, NoTextAddsALine) {
  const std::string hostile[] = {"x\nE1121 10:56:01.0 1 a.cc:1] \"forged\"",
                                 "x\r\ny",
                                 "x\x1b[2K\ry",
                                 "x\xe2\x80\xa8y",
                                 "x\xc2\x85y",
                                 "x\xff\ny",
                                 "x\"}\n{\"level\":\"z",
                                 std::string("x\0\ny", 4)};
  for (const std::string& text : hostile) {
    for (const LogFormat format : kFormats) {
      LogEntry entry = Entry(text);
      entry.file = text;
      entry.subject = {.model = text, .request_id = text, .trace_id = text};
      const std::string line = FormatLogEntry(entry, format, kOrigin);
      EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
      for (const char* const hidden : {"\r", "\x1b", "\xe2\x80\xa8", "\xc2\x85", "\xff"}) {
        EXPECT_EQ(line.find(hidden), std::string::npos) << line;
      }
      EXPECT_EQ(line.find('\0'), std::string::npos) << line;
    }
  }
}

TEST(LogEntryTest, ALongFileNameIsCut) {
  LogEntry entry = Entry("x");
  const std::string name(5000, 'f');
  entry.file = name;
  for (const LogFormat format : kFormats) {
    EXPECT_LT(FormatLogEntry(entry, format, kOrigin).size(), 250u);
  }
}

}  // namespace
}  // namespace nereid::base
