// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/azure_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repository/storage/azure_signature.h"
#include "repository/storage/testing/open_store.h"

namespace nereid::repository::storage {
namespace {

using base::StatusCode;
using curl::FieldOf;
using curl::testing::FakeReply;
using testing::FakeContext;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Open;
using testing::ReadInto;

FakeReply Store(const curl::HttpRequest& request) {
  if (FieldOf(request.fields, "Range").empty()) {
    return {{200, {}, "<EnumerationResults><Blobs/></EnumerationResults>"}, {}};
  }
  return {{206, {{"Content-Range", "bytes 2-4/10"}, {"ETag", "\"0x8D\""}}, "234"}, {}};
}

// The text that the documentation of Shared Key gives for a list, with this project's fields.
TEST(AzureStringToSign, HasTheDocumentedForm) {
  const AzureRequest list = {
      "/mycontainer",
      {{"restype", "container"}, {"comp", "metadata"}, {"Timeout", "20"}},
      {{"x-ms-version", "2014-02-14"}, {"X-Ms-Date", "Fri, 26 Jun 2015 23:39:12 GMT"}}};
  EXPECT_EQ(AzureStringToSign(list, "myaccount"),
            "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\n"
            "x-ms-version:2014-02-14\n/myaccount/mycontainer\ncomp:metadata\n"
            "restype:container\ntimeout:20");
  const AzureRequest read = {
      "/c/a%20b", {}, {{"If-Match", "\"e\""}, {"Range", "bytes=0-1"}, {"x-ms-date", "d"}}};
  EXPECT_EQ(AzureStringToSign(read, "a"),
            "GET\n\n\n\n\n\n\n\n\"e\"\n\n\nbytes=0-1\nx-ms-date:d\n/a/c/a%20b");
}

TEST(AzureProtocol, ListsWithASharedKey) {
  FakeContext context(Store);
  context.variables["AZURE_STORAGE_ACCOUNT"] = "acc";
  context.variables["AZURE_STORAGE_KEY"] = "c2VjcmV0";
  const auto store = Open(context, "as://acc/cont/m");
  ASSERT_TRUE(store->List("m/", true, "2!x").ok());
  const curl::HttpRequest request = context.requests().at(0);
  EXPECT_EQ(request.url,
            "https://acc.blob.core.windows.net/cont?comp=list&delimiter=%2F&marker=2%21x&"
            "maxresults=1000&prefix=m%2F&restype=container");
  EXPECT_EQ(FieldOf(request.fields, "x-ms-date"), "Fri, 24 May 2013 00:00:00 GMT");
  EXPECT_EQ(FieldOf(request.fields, "x-ms-version"), "2023-11-03");
  EXPECT_TRUE(FieldOf(request.fields, "Authorization").starts_with("SharedKey acc:"));
}

TEST(AzureProtocol, ReadsAPartOfOneVersion) {
  FakeContext context(Store);
  context.variables["AZURE_STORAGE_SERVICE_ENDPOINT"] = "http://127.0.0.1:10000/acc/";
  const auto store = Open(context, "as://acc/cont");
  std::string content;
  ASSERT_TRUE(ReadInto(*store, {"m/a b", 10, "0x8D"}, 2, 3, &content).ok());
  EXPECT_EQ(content, "234");
  const curl::HttpRequest request = context.requests().at(0);
  EXPECT_EQ(request.url, "http://127.0.0.1:10000/acc/cont/m/a%20b");
  EXPECT_EQ(FieldOf(request.fields, "If-Match"), "\"0x8D\"");
  EXPECT_EQ(FieldOf(request.fields, "Range"), "bytes=2-4");
  EXPECT_EQ(FieldOf(request.fields, "Authorization"), "");
  EXPECT_EQ(ReadInto(*store, {"m/a b", 10, "0x8C"}, 2, 3, &content).code(),
            StatusCode::kAlreadyExists);
}

TEST(AzureProtocol, ASignatureOfTheUrlIsInNoMessage) {
  FakeContext context([](const curl::HttpRequest&) -> FakeReply {
    return {{403, {}, "<Error><Code>AuthenticationFailed</Code><Message>No.</Message></Error>"},
            {}};
  });
  const auto store = Open(context, "as://acc/cont?sv=2023&sig=verysecret%3D");
  const auto refused = store->List("", false, "");
  EXPECT_EQ(context.requests().at(0).url,
            "https://acc.blob.core.windows.net/cont?comp=list&maxresults=1000&restype=container&"
            "sv=2023&sig=verysecret%3D");
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().message(),
              HasSubstr("status 403 AuthenticationFailed (No.). The credentials are of the shared "
                        "access signature in the repository's URL; they must permit listing"));
  EXPECT_THAT(refused.status().message(), Not(HasSubstr("secret")));
}

TEST(AzureProtocol, RefusesAnEndpointThatIsNoUrl) {
  FakeContext context(Store);
  for (const char* bad : {"127.0.0.1:10000", "ftp://h", "http://user@h", "http://h?x"}) {
    context.variables["AZURE_STORAGE_SERVICE_ENDPOINT"] = bad;
    EXPECT_EQ(OpenObjectStore("as://acc/cont", context.Get()).status().code(),
              StatusCode::kInvalidArgument)
        << bad;
  }
}

}  // namespace
}  // namespace nereid::repository::storage
