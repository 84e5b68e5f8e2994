// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"

namespace nereid::handover {

/// The address of one or more replicas, as the command line gives it: [http://|https://]HOST:PORT.
struct PeerAddress {
  std::string scheme = "http";
  std::string host;  // a name, an IPv4 address, or an IPv6 address in brackets
  uint16_t port = 0;
};

/// Returns INVALID_ARGUMENT, with the form, for another text.
base::Result<PeerAddress> ParsePeer(std::string_view text);

/// Returns the addresses of a host in numbers, IPv6 in brackets; empty if it has none. Blocks.
std::vector<std::string> ResolveHost(const std::string& host);

/// Finds the other replicas. A name may have the addresses of many of them, as a headless service
/// of Kubernetes has; it is asked for them again and again, because they change. The name of an
/// https address is kept, because the certificate has that name: it leads to one replica only.
/// Thread-safe.
class Peers {
 public:
  using Resolve = std::function<std::vector<std::string>(const std::string& host)>;
  /// How long the addresses of names count.
  static constexpr uint64_t kKeepNs = 2'000'000'000;
  /// How long a replica that could not be reached is asked after all others.
  static constexpr uint64_t kAvoidNs = 5'000'000'000;
  static constexpr size_t kMaxReplicas = 256;

  /// `clock` must outlive the object.
  Peers(std::vector<PeerAddress> addresses, Resolve resolve, const base::Clock& clock)
      : addresses_(std::move(addresses)), resolve_(std::move(resolve)), clock_(clock) {}

  /// Returns the URLs of the replicas, "http://HOST:PORT", in the order in which to ask them; this
  /// server may be among them. May ask for addresses, which blocks.
  std::vector<std::string> Urls();
  void NoteUnreachable(const std::string& url);

 private:
  std::vector<std::string> Find() const;
  /// Asks for the addresses, without the lock, unless another thread does.
  void Refresh(base::MutexLock& lock, uint64_t now_ns) NEREID_REQUIRES(mutex_);

  const std::vector<PeerAddress> addresses_;
  const Resolve resolve_;
  const base::Clock& clock_;
  base::Mutex mutex_;
  std::vector<std::string> urls_ NEREID_GUARDED_BY(mutex_);
  base::ConditionVariable found_;
  bool is_finding_ NEREID_GUARDED_BY(mutex_) = false;
  uint64_t found_until_ns_ NEREID_GUARDED_BY(mutex_) = 0;
  std::map<std::string, uint64_t> avoided_until_ns_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::handover
