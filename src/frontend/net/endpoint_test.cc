// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/endpoint.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "frontend/net/unix_address.h"

namespace nereid::frontend::net {
namespace {

std::string TextOf(const std::string& address, uint16_t port) {
  const auto endpoint = ResolveEndpoint("HTTP", address, port);
  return endpoint.ok() ? endpoint->text() : endpoint.status().message();
}

TEST(ResolveEndpointTest, TakesAddressesAndNames) {
  EXPECT_EQ(TextOf("0.0.0.0", 8000), "0.0.0.0:8000");
  EXPECT_EQ(TextOf("::1", 1), "[::1]:1");
  const std::string local = TextOf("localhost", 8000);
  EXPECT_TRUE(local == "127.0.0.1:8000" || local == "[::1]:8000") << local;
  EXPECT_EQ(ResolveEndpoint("HTTP", "::1", 8000)->port(), 8000);
  EXPECT_EQ(ResolveEndpoint("HTTP", "::1", 8000)->path(), "");
  const auto unknown = ResolveEndpoint("gRPC", "no such host", 8001);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.status().code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(unknown.status().message().find("the gRPC address 'no such host' cannot be resolved: "),
            0u)
      << unknown.status().message();
}

TEST(ResolveEndpointTest, TakesUnixSockets) {
  const Endpoint file = ResolveEndpoint("HTTP", "unix:/run/a.sock", 8000).value();
  EXPECT_TRUE(file.is_unix());
  EXPECT_EQ(file.path(), "/run/a.sock");
  EXPECT_EQ(file.port(), 0);
  EXPECT_EQ(file.text(), "unix:/run/a.sock");
  EXPECT_EQ(TextOf("unix:///run/a.sock", 0), "unix:/run/a.sock");
  EXPECT_EQ(TextOf("unix:a.sock", 0), "unix:a.sock");
  const Endpoint name = ResolveEndpoint("HTTP", "unix-abstract:a", 8000).value();
  EXPECT_TRUE(name.is_unix());
  EXPECT_EQ(name.path(), "");
  EXPECT_EQ(name.text(), "unix-abstract:a");
}

TEST(ResolveEndpointTest, RefusesNamesThatNoUnixSocketCanHave) {
  const std::string longest(107, 'x');
  EXPECT_EQ(TextOf("unix:" + longest, 0), "unix:" + longest);
  EXPECT_EQ(TextOf("unix-abstract:" + longest, 0), "unix-abstract:" + longest);
  EXPECT_EQ(TextOf("unix:", 0),
            "the HTTP address 'unix:' must name a Unix socket with 1 to 107 characters, but it has "
            "0");
  for (const char* prefix : {"unix:", "unix-abstract:"}) {
    const auto refused = ResolveEndpoint("HTTP", prefix + longest + "y", 0);
    EXPECT_EQ(refused.status().code(), base::StatusCode::kInvalidArgument);
    EXPECT_TRUE(refused.status().message().ends_with("but it has 108"));
  }
}

TEST(EndpointTest, EqualsItsCopies) {
  const Endpoint one = ResolveEndpoint("HTTP", "127.0.0.1", 1).value();
  EXPECT_EQ(one, ResolveEndpoint("HTTP", "127.0.0.1", 1).value());
  EXPECT_FALSE(one == ResolveEndpoint("HTTP", "127.0.0.1", 2).value());
  EXPECT_FALSE(one == ResolveEndpoint("HTTP", "unix:/a", 1).value());
}

TEST(ListenFailureTest, NamesTheSocket) {
  const Endpoint endpoint = ResolveEndpoint("HTTP", "unix:/run/a.sock", 0).value();
  EXPECT_EQ(ListenFailure(endpoint, EADDRINUSE).message(),
            "Socket 'unix:/run/a.sock' already in use ");
  EXPECT_EQ(ListenFailure(endpoint, EACCES).message(),
            "cannot listen on socket 'unix:/run/a.sock': Permission denied");
}

TEST(UnixAddressTest, IsToldFromHostNames) {
  EXPECT_TRUE(IsUnixAddress("unix:/a"));
  EXPECT_TRUE(IsUnixAddress("unix-abstract:a"));
  for (const char* address : {"", "unix", "unix.example", "::1", "/run/a.sock", "UNIX:/a"}) {
    EXPECT_FALSE(IsUnixAddress(address)) << address;
  }
}

}  // namespace
}  // namespace nereid::frontend::net
