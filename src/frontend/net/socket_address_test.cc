// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/socket_address.h"

#include <gtest/gtest.h>
#include <sys/un.h>

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace nereid::frontend::net {
namespace {

namespace ip = boost::asio::ip;

std::string TextOf(const char* address, uint16_t port) {
  const ip::tcp::endpoint endpoint(ip::make_address(address), port);
  return SocketAddressText(*endpoint.data(), static_cast<socklen_t>(endpoint.size()));
}

std::string UnixTextOf(std::string_view name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), name.size());
  return SocketAddressText(reinterpret_cast<const sockaddr&>(address),
                           offsetof(sockaddr_un, sun_path) + name.size());
}

TEST(SocketAddressText, NamesEachFamily) {
  EXPECT_EQ(TextOf("192.0.2.1", 80), "192.0.2.1:80");
  EXPECT_EQ(TextOf("2001:db8::1", 8000), "[2001:db8::1]:8000");
  EXPECT_EQ(UnixTextOf("/run/a.sock"), "unix:/run/a.sock");
  EXPECT_EQ(UnixTextOf(std::string_view("/run/a.sock\0", 12)), "unix:/run/a.sock");
  EXPECT_EQ(UnixTextOf(std::string_view("\0name", 5)), "unix-abstract:name");
  EXPECT_EQ(UnixTextOf(std::string(108, 'x')), "unix:" + std::string(108, 'x'));
  EXPECT_EQ(UnixTextOf(""), "unix");
  const sockaddr other = {.sa_family = AF_UNSPEC, .sa_data = {}};
  EXPECT_EQ(SocketAddressText(other, sizeof(other)), "");
}

}  // namespace
}  // namespace nereid::frontend::net
