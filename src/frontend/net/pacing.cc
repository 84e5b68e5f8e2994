// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/pacing.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

namespace nereid::frontend::net {
namespace {

constexpr std::string_view kUnpaced = "reno";
constexpr size_t kMaxName = 16;  // TCP_CA_NAME_MAX of Linux

bool SetCongestionControl(const Socket& socket, std::string_view name) {
  return setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_CONGESTION, name.data(),
                    static_cast<socklen_t>(name.size())) == 0;
}

}  // namespace

bool IsPacing(std::string_view congestion_control) {
  return congestion_control.substr(0, 3) == "bbr";
}

std::string CongestionControlOf(const Socket& socket) {
  char name[kMaxName + 1] = {};
  socklen_t size = kMaxName;
  return getsockopt(socket.descriptor(), IPPROTO_TCP, TCP_CONGESTION, name, &size) == 0 ? name : "";
}

std::string EndPacingOfClients(const Socket& listening) {
  std::string name = CongestionControlOf(listening);
  return IsPacing(name) && SetCongestionControl(listening, kUnpaced) ? name : "";
}

void RestorePacing(const Socket& connection, const std::string& congestion_control) {
  if (CongestionControlOf(connection) != kUnpaced) return;
  // The system's default is permitted to every user.
  (void)SetCongestionControl(connection, congestion_control);
}

bool IsLoopback(const sockaddr& client) {
  if (client.sa_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(client).sin_addr;
    return ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  if (client.sa_family != AF_INET6) return false;
  const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(client).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address)) return address.s6_addr[12] == IN_LOOPBACKNET;
  return IN6_IS_ADDR_LOOPBACK(&address);
}

}  // namespace nereid::frontend::net
