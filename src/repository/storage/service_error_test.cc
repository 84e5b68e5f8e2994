// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/service_error.h"

#include <gtest/gtest.h>

namespace nereid::repository::storage {
namespace {

using base::StatusCode;

TEST(ParseXmlError, ReadsCodeMessageAndRegion) {
  const ServiceError error = ParseXmlError(
      "<?xml version=\"1.0\"?><Error><Code>PermanentRedirect</Code><Message>Use it &amp; go\n"
      "RequestId:1</Message><Region>eu-west-1</Region><AWSAccessKeyId>AKID</AWSAccessKeyId>"
      "</Error>");
  EXPECT_EQ(error.code, "PermanentRedirect");
  EXPECT_EQ(error.message, "Use it & go");
  EXPECT_EQ(error.region, "eu-west-1");
  for (const char* bad : {"", "<html>", "<Other><Code>A</Code></Other>", "<Error", "{}"}) {
    EXPECT_EQ(ParseXmlError(bad).code, "") << bad;
  }
  EXPECT_EQ(ParseXmlError("<Error><Code>a b</Code></Error>").code, "");
  EXPECT_EQ(ParseXmlError("<Error><Message>" + std::string(1000, 'x') + "</Message></Error>")
                .message.size(),
            300u);
  EXPECT_EQ(ParseXmlError("<Error><Message>a\x1b[31mb\xC3\xA9</Message></Error>").message,
            "a[31mb");
}

TEST(ParseJsonError, ReadsBothForms) {
  const ServiceError api = ParseJsonError(
      R"({"error": {"code": 403, "message": "No access.", "errors": [{"reason": "forbidden"}]}})");
  EXPECT_EQ(api.code, "forbidden");
  EXPECT_EQ(api.message, "No access.");
  const ServiceError oauth =
      ParseJsonError(R"({"error": "invalid_grant", "error_description": "Expired."})");
  EXPECT_EQ(oauth.code, "invalid_grant");
  EXPECT_EQ(oauth.message, "Expired.");
  for (const char* odd : {"", "[]", "{\"error\": 5}", "{\"error\": {\"errors\": {}}}",
                          "{\"error\": {\"errors\": [[]], \"message\": 4}}", "{\"error\": null}"}) {
    EXPECT_EQ(ParseJsonError(odd).code, "") << odd;
  }
}

TEST(StatusOf, KeepsToTheClassesOfObjectStore) {
  const FailedCall call = {"cannot list 's3://b/p'", "of the file '/x'", "s3:ListBucket"};
  const auto code = [&](int status, const char* text) {
    return StatusOf(call, status, {.code = text}).code();
  };
  for (const int status : {408, 429, 500, 502, 503, 504}) {
    EXPECT_EQ(code(status, ""), StatusCode::kUnavailable) << status;
  }
  EXPECT_EQ(code(400, "RequestTimeout"), StatusCode::kUnavailable);
  EXPECT_EQ(code(404, "NoSuchKey"), StatusCode::kNotFound);
  EXPECT_EQ(code(401, ""), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(403, "AccessDenied"), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(400, "ExpiredToken"), StatusCode::kInvalidArgument);
  for (const int status : {300, 301, 400, 405, 409, 418}) {
    EXPECT_EQ(code(status, ""), StatusCode::kInternal) << status;
  }
  EXPECT_EQ(StatusOf(call, 403, {.code = "AccessDenied", .message = "Access Denied"}).message(),
            "cannot list 's3://b/p': the store answered with status 403 AccessDenied (Access "
            "Denied). The credentials are of the file '/x'; they must permit s3:ListBucket");
}

}  // namespace
}  // namespace nereid::repository::storage
