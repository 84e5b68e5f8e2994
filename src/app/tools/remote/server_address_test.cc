// SPDX-License-Identifier: Apache-2.0
#include "app/tools/remote/server_address.h"

#include <gtest/gtest.h>

namespace nereid::app::tools {
namespace {

std::string Parsed(std::string_view text) {
  const auto address = ParseServerUrl(text);
  if (!address.ok()) return "wrong";
  return address->base_url + (address->unix_socket.empty() ? "" : " " + address->unix_socket);
}

TEST(ParseServerUrl, EveryForm) {
  EXPECT_EQ(Parsed("http://host:1"), "http://host:1");
  EXPECT_EQ(Parsed("https://host/"), "https://host");
  EXPECT_EQ(Parsed("https://[::1]:2/triton//"), "https://[::1]:2/triton");
  EXPECT_EQ(Parsed("localhost"), "http://localhost:8000");
  EXPECT_EQ(Parsed("localhost:9"), "http://localhost:9");
  EXPECT_EQ(Parsed("[::1]"), "http://[::1]:8000");
  EXPECT_EQ(Parsed("[::1]:9"), "http://[::1]:9");
  EXPECT_EQ(Parsed("unix:/run/nereid.http"), "http://localhost /run/nereid.http");
  EXPECT_EQ(Parsed("unix:relative path"), "http://localhost relative path");
}

TEST(ParseServerUrl, RefusesTheRest) {
  for (const std::string_view text :
       {"", "unix:", "ftp://host", "file:///etc/passwd", "http://", "http:///x", "https://", "a b",
        "http://host\r\nX: y", "http://host?x", "http://host#x", "host/path", "http://h\xc3\xa9"}) {
    EXPECT_EQ(Parsed(text), "wrong") << text;
  }
  EXPECT_EQ(Parsed(std::string_view("unix:a\0b", 8)), "wrong");
  EXPECT_EQ(ParseServerUrl("ftp://x").status().message(),
            "'ftp://x' is not the address of a server, expected http://<host>:<port>, "
            "https://<host>:<port> or unix:<path>");
}

TEST(IsPathSegment, NamesThatServersUnderstand) {
  for (const char* name : {"m", "resnet-50_v1.5", "a:b", "a@b"}) EXPECT_TRUE(IsPathSegment(name));
  for (const char* name :
       {"", ".", "..", "a/b", "a b", "a?b", "a#b", "a%20b", "a\\b", "a\nb", "\xc3\xa9"}) {
    EXPECT_FALSE(IsPathSegment(name)) << name;
  }
}

}  // namespace
}  // namespace nereid::app::tools
