// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/endpoint.h"

#include <netinet/in.h>
#include <sys/un.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <system_error>

#include "frontend/net/unix_address.h"

namespace nereid::frontend::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

Endpoint From(const tcp::endpoint& endpoint) { return {endpoint.data(), endpoint.size()}; }

base::Result<Endpoint> UnixEndpoint(const std::string& service, const std::string& address) {
  const UnixName name = UnixNameOf(address);
  sockaddr_un unix_address = {};
  unix_address.sun_family = AF_UNIX;
  // A path ends with a NUL, and an abstract name begins with one.
  constexpr size_t kMax = sizeof(unix_address.sun_path) - 1;
  if (name.name.empty() || name.name.size() > kMax) {
    return base::Status::InvalidArgument(
        "the " + service + " address '" + address + "' must name a Unix socket with 1 to " +
        std::to_string(kMax) + " characters, but it has " + std::to_string(name.name.size()));
  }
  char* const to = unix_address.sun_path + (name.is_abstract ? 1 : 0);
  std::memcpy(to, name.name.data(), name.name.size());
  return Endpoint(reinterpret_cast<const sockaddr*>(&unix_address),
                  offsetof(sockaddr_un, sun_path) + name.name.size() + 1);
}

}  // namespace

Endpoint::Endpoint(const sockaddr* address, size_t size) : size_(static_cast<socklen_t>(size)) {
  std::memcpy(&address_, address, size);
}

std::string Endpoint::path() const {
  const std::string text = is_unix() ? this->text() : std::string();
  return text.starts_with(kUnixPrefix) ? text.substr(kUnixPrefix.size()) : std::string();
}

uint16_t Endpoint::port() const {
  if (family() == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address_).sin_port);
  if (family() == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address_).sin6_port);
  return 0;
}

bool Endpoint::operator==(const Endpoint& other) const {
  return size_ == other.size_ && std::memcmp(&address_, &other.address_, size_) == 0;
}

base::Result<Endpoint> ResolveEndpoint(const std::string& service, const std::string& address,
                                       uint16_t port) {
  if (IsUnixAddress(address)) return UnixEndpoint(service, address);
  boost::system::error_code error;
  const asio::ip::address literal = asio::ip::make_address(address, error);
  if (!error) return From(tcp::endpoint(literal, port));
  asio::io_context io;
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(address, std::to_string(port), error);
  if (error || found.empty()) {
    return base::Status::InvalidArgument("the " + service + " address '" + address +
                                         "' cannot be resolved: " + error.message());
  }
  return From(found.begin()->endpoint());
}

base::Status ListenFailure(const Endpoint& endpoint, int error) {
  const std::string place = "'" + endpoint.text() + "'";
  if (error == EADDRINUSE) return base::Status::Unavailable("Socket " + place + " already in use ");
  return base::Status::Unavailable("cannot listen on socket " + place + ": " +
                                   std::generic_category().message(error));
}

}  // namespace nereid::frontend::net
