// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/connection_limit.h"

#include <endian.h>
#include <netinet/in.h>

#include <cstring>
#include <new>

namespace nereid::frontend::net {

std::optional<ClientAddress> ClientAddressOf(const sockaddr& address) noexcept {
  if (address.sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &address, sizeof(v4));
    return ClientAddress{.host = uint64_t{1} << 32 | ntohl(v4.sin_addr.s_addr)};
  }
  if (address.sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6;
  std::memcpy(&v6, &address, sizeof(v6));
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    uint32_t host = 0;
    std::memcpy(&host, v6.sin6_addr.s6_addr + 12, sizeof(host));
    return ClientAddress{.host = uint64_t{1} << 32 | ntohl(host)};
  }
  uint64_t network = 0;
  std::memcpy(&network, v6.sin6_addr.s6_addr, sizeof(network));
  return ClientAddress{.network = be64toh(network)};
}

ConnectionLimit::Place ConnectionLimit::Take() noexcept {
  Place place;
  size_t open = open_.load(std::memory_order_relaxed);
  do {
    if (open >= max_) return place;
  } while (!open_.compare_exchange_weak(open, open + 1, std::memory_order_relaxed));
  place.limit_ = this;
  return place;
}

bool ConnectionLimit::TakeFor(const sockaddr& address, Place& place) noexcept {
  if (max_per_address_ == 0) return true;
  const std::optional<ClientAddress> client = ClientAddressOf(address);
  if (!client) return true;
  const base::MutexLock lock(mutex_);
  try {
    size_t& open = open_by_address_[*client];
    if (open >= max_per_address_) return false;
    ++open;
  } catch (const std::bad_alloc&) {
    return false;
  }
  place.address_ = client;
  return true;
}

void ConnectionLimit::Give(const std::optional<ClientAddress>& address) noexcept {
  open_.fetch_sub(1, std::memory_order_relaxed);
  if (!address) return;
  const base::MutexLock lock(mutex_);
  const auto found = open_by_address_.find(*address);
  if (--found->second == 0) open_by_address_.erase(found);
}

}  // namespace nereid::frontend::net
