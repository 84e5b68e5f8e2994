// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace nereid::frontend::net {
namespace {

std::string UnixText(const sockaddr_un& address, socklen_t size) {
  constexpr size_t kOffset = offsetof(sockaddr_un, sun_path);
  if (size <= kOffset) return "unix";
  const std::string_view name(address.sun_path, std::min(size - kOffset, sizeof(address.sun_path)));
  if (name[0] == '\0') return "unix-abstract:" + std::string(name.substr(1));
  return "unix:" + std::string(name.substr(0, name.find('\0')));
}

}  // namespace

std::string SocketAddressText(const sockaddr& address, socklen_t size) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.sa_family == AF_INET && size >= sizeof(sockaddr_in)) {
    sockaddr_in v4;
    std::memcpy(&v4, &address, sizeof(v4));
    if (inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text)) == nullptr) return {};
    return text + (":" + std::to_string(ntohs(v4.sin_port)));
  }
  if (address.sa_family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &address, sizeof(v6));
    if (inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text)) == nullptr) return {};
    return "[" + std::string(text) + "]:" + std::to_string(ntohs(v6.sin6_port));
  }
  if (address.sa_family != AF_UNIX) return {};
  sockaddr_un local = {};
  std::memcpy(&local, &address, std::min(sizeof(local), static_cast<size_t>(size)));
  return UnixText(local, size);
}

}  // namespace nereid::frontend::net
