// SPDX-License-Identifier: Apache-2.0
#include "load/target.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace nereid::load {
namespace {

constexpr timeval kMaxWait = {10, 0};

bool ResolveUnix(Target* target, std::string* error) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (target->unix_socket.size() >= sizeof(address.sun_path)) {
    *error = "the path of the socket is too long";
    return false;
  }
  std::memcpy(address.sun_path, target->unix_socket.data(), target->unix_socket.size());
  std::memcpy(&target->address, &address, sizeof(address));
  target->address_size = sizeof(address);
  return true;
}

/// Sets how long connect(2), and reads and writes of the handshake, may block; zero: forever.
void SetWait(int fd, timeval wait) {
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
}

bool IsLoopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const auto& ip = reinterpret_cast<const sockaddr_in&>(address);
    return ntohl(ip.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  return address.ss_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

/// Sets the options of a TCP socket. Over the loopback it gets Reno: BBR, where it is the system's
/// congestion control, would pace large requests, and the load would measure the pace.
void SetOptions(int fd, const sockaddr_storage& server) {
  constexpr char kUnpaced[] = "reno";
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (IsLoopback(server)) {
    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, kUnpaced, sizeof(kUnpaced) - 1);
  }
}

}  // namespace

bool Resolve(Target* target, std::string* error) {
  if (!target->unix_socket.empty()) return ResolveUnix(target, error);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  std::string host = target->host;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.c_str(), std::to_string(target->port).c_str(), &hints, &found);
  if (code != 0) {
    *error = "the host '" + target->host + "' is not known: " + gai_strerror(code);
    return false;
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, freeaddrinfo);
  // A name may have addresses at which nothing listens: the first that answers is used.
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    std::memcpy(&target->address, one->ai_addr, one->ai_addrlen);
    target->address_size = one->ai_addrlen;
    Target plain = *target;
    plain.tls = nullptr;
    if (Connect(plain, error) != nullptr) return true;
  }
  return false;
}

std::unique_ptr<Link> Connect(const Target& target, std::string* error) {
  const int fd = socket(target.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    *error = std::string("no socket: ") + std::strerror(errno);
    return nullptr;
  }
  auto link = std::make_unique<Link>(fd);
  SetWait(fd, kMaxWait);
  // Before the connection exists: what was paced once stays paced.
  if (target.address.ss_family != AF_UNIX) SetOptions(fd, target.address);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&target.address), target.address_size) != 0) {
    *error = std::strerror(errno == EINPROGRESS ? ETIMEDOUT : errno);
    return nullptr;
  }
  const char* const protocol = target.protocol == Protocol::kHttp ? "http/1.1" : "h2";
  if (target.tls != nullptr && !link->StartTls(target.tls, protocol, target.host, error)) {
    return nullptr;
  }
  if (!link->MakeNonBlocking()) {
    *error = std::strerror(errno);
    return nullptr;
  }
  return link;
}

}  // namespace nereid::load
