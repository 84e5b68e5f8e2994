// SPDX-License-Identifier: Apache-2.0
#include "api/access_record.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/files.h"
#include "base/log.h"

namespace nereid::api {
namespace {

AccessRecord::Request Infer() {
  return {.protocol = "http",
          .method = "POST",
          .path = "/v2/models/m/infer",
          .peer = "127.0.0.1:4000",
          .start_ns = 1'000'000};
}

class AccessRecordTest : public ::testing::TestWithParam<base::LogFormat> {
 protected:
  /// Returns what `write` writes to the log.
  template <typename Write>
  static std::string Logged(base::LogFormat format, const Write& write) {
    base::Log& log = base::Log::Instance();
    const std::string path = ::testing::TempDir() + "access_record_" + std::to_string(getpid());
    EXPECT_TRUE(log.SetFile(path).ok());
    log.SetFormat(format);
    write();
    log.SetFormat(base::LogFormat::kDefault);
    EXPECT_TRUE(log.SetFile("").ok());
    std::string text = *base::ReadFile(path);
    std::remove(path.c_str());
    return text;
  }
};

TEST_F(AccessRecordTest, IsOneLineOfText) {
  const std::string text = Logged(base::LogFormat::kDefault, [] {
    AccessRecord record(Infer());
    record.SetTarget("m", "an id");
    record.AddReceived(100);
    record.AddReceived(28);
    record.AddSent(64);
    record.Write(200, 3'512'999);
  });
  EXPECT_NE(text.find(" access_log:0] \"protocol=http method=POST path=/v2/models/m/infer "
                      "status=200 bytes_in=128 bytes_out=64 ms=2.512 peer=127.0.0.1:4000 model=m "
                      "request_id=\\\"an id\\\"\"\n"),
            std::string::npos)
      << text;
}

TEST_F(AccessRecordTest, IsOneJsonObject) {
  const std::string text = Logged(base::LogFormat::kJson, [] {
    AccessRecord record(Infer());
    record.SetTarget("m", "7");
    record.SetTrace("0af7");
    record.Write(kClientClosedRequest, 1'000'000);
  });
  EXPECT_NE(text.find(R"("file":"access_log","line":0,"message":"request","model":"m",)"
                      R"("request_id":"7","trace_id":"0af7","protocol":"http","method":"POST",)"
                      R"("path":"/v2/models/m/infer","status":499,"bytes_in":0,"bytes_out":0,)"
                      R"("ms":0.000,"peer":"127.0.0.1:4000"})"
                      "\n"),
            std::string::npos)
      << text;
}

TEST_F(AccessRecordTest, IsWrittenEvenIfInfoLinesAreNot) {
  base::Log::Instance().SetEnabled(base::LogLevel::kInfo, false);
  const std::string text = Logged(base::LogFormat::kDefault, [] {
    AccessRecord(Infer()).Write(0, 0);
    LOG_INFO << "not this";
  });
  base::Log::Instance().SetEnabled(base::LogLevel::kInfo, true);
  EXPECT_NE(text.find("status=0"), std::string::npos);
  EXPECT_EQ(text.find("not this"), std::string::npos);
}

TEST_P(AccessRecordTest, NoNameAddsALineOrAProperty) {
  const std::string hostile[] = {"x\ny",
                                 "x\x1b[2K",
                                 "x\xe2\x80\xa8y",
                                 "x\xff",
                                 "x status=200",
                                 "x\",\"status\":200,\"y\":\"",
                                 std::string(100'000, '\n')};
  for (const std::string& name : hostile) {
    const std::string text = Logged(GetParam(), [&] {
      AccessRecord record({.protocol = "http", .method = name, .path = name});
      record.SetTarget(name, name);
      record.SetTrace(name);
      record.Write(404, 0);
    });
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
    for (const char* const hidden : {"\x1b", "\xe2\x80\xa8", "\xff", " status=200 "}) {
      EXPECT_EQ(text.find(hidden), std::string::npos) << text;
    }
    EXPECT_EQ(text.find("\"status\":200"), std::string::npos) << text;
    EXPECT_LT(text.size(), 7 * 6 * 2 * AccessRecord::kMaxTextSize);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, AccessRecordTest,
                         ::testing::Values(base::LogFormat::kDefault, base::LogFormat::kIso8601,
                                           base::LogFormat::kJson));

}  // namespace
}  // namespace nereid::api
