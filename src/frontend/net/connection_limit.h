// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/mutex.h"

namespace nereid::frontend::net {

/// The clients that are counted as one: an IPv4 address, or the first 64 bits of an IPv6 address,
/// of which one machine usually has all the rest (RFC 6177).
struct ClientAddress {
  uint64_t network = 0;  // of IPv6
  uint64_t host = 0;     // of IPv4, also where it is written as ::ffff:A.B.C.D
  auto operator<=>(const ClientAddress&) const = default;
};

/// Returns nothing for a client that has no address of its own (a Unix socket).
std::optional<ClientAddress> ClientAddressOf(const sockaddr& address) noexcept;

/// Limits the number of open connections, in total and of each client address. The loops of a
/// server share it, and several servers may share it. Thread-safe.
class ConnectionLimit {
 public:
  /// `max_per_address` 0: the connections of an address are not limited, nor counted.
  explicit ConnectionLimit(size_t max, size_t max_per_address = 0)
      : max_(max), max_per_address_(max_per_address) {}

  /// A counted connection. The destructor uncounts it. The limit must outlive it.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept { *this = std::move(other); }
    Place& operator=(Place&& other) noexcept {
      std::swap(limit_, other.limit_);
      std::swap(address_, other.address_);
      return *this;
    }
    ~Place() { Release(); }

    void Release() noexcept {
      if (limit_ != nullptr) std::exchange(limit_, nullptr)->Give(address_);
    }
    explicit operator bool() const { return limit_ != nullptr; }

   private:
    friend class ConnectionLimit;
    ConnectionLimit* limit_ = nullptr;  // null: nothing is counted
    std::optional<ClientAddress> address_;
  };

  /// Counts one more connection. Returns an empty place if there are already `max`.
  Place Take() noexcept;
  /// Counts the connection of `place` as one of `address`. Returns false if there are already
  /// `max_per_address`, or if there is no memory.
  bool TakeFor(const sockaddr& address, Place& place) noexcept;

  size_t max() const { return max_; }
  size_t max_per_address() const { return max_per_address_; }

 private:
  void Give(const std::optional<ClientAddress>& address) noexcept;

  const size_t max_;
  const size_t max_per_address_;
  std::atomic<size_t> open_{0};
  base::Mutex mutex_;
  /// The open connections by address. A map, because clients choose the keys: it has no bad case.
  std::map<ClientAddress, size_t> open_by_address_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::frontend::net
