// SPDX-License-Identifier: Apache-2.0
#include "handover/peers.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <new>

#include "base/parse_number.h"

namespace nereid::handover {

using base::Status;

base::Result<PeerAddress> ParsePeer(std::string_view text) {
  const auto malformed = [text] {
    return Status::InvalidArgument(
        "the address of a replica has the form [http://|https://]HOST:PORT. Got " +
        std::string(text));
  };
  PeerAddress address;
  std::string_view rest = text;
  if (const size_t scheme = rest.find("://"); scheme != rest.npos) {
    address.scheme = rest.substr(0, scheme);
    rest.remove_prefix(scheme + 3);
    if (address.scheme != "http" && address.scheme != "https") return malformed();
  }
  const size_t colon = rest.rfind(':');
  if (colon == rest.npos || colon == 0) return malformed();
  constexpr std::string_view kCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:[]";
  address.host = rest.substr(0, colon);
  const bool has_brackets = address.host.front() == '[' && address.host.back() == ']';
  const bool has_colons = address.host.find(':') != std::string::npos;
  if (address.host.find_first_not_of(kCharacters) != std::string::npos ||
      has_colons != has_brackets) {
    return malformed();
  }
  const auto port = base::ParseWhole<uint16_t>(rest.substr(colon + 1));
  if (!port || *port == 0) return malformed();
  address.port = *port;
  return address;
}

std::vector<std::string> ResolveHost(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const bool has_brackets = host.front() == '[';
  const std::string plain = has_brackets ? host.substr(1, host.size() - 2) : host;
  if (::getaddrinfo(plain.c_str(), nullptr, &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    char text[NI_MAXHOST];
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof(text), nullptr, 0,
                      NI_NUMERICHOST) != 0) {
      continue;
    }
    addresses.push_back(each->ai_family == AF_INET6 ? "[" + std::string(text) + "]" : text);
  }
  return addresses;
}

std::vector<std::string> Peers::Find() const {
  std::vector<std::string> urls;
  for (const PeerAddress& address : addresses_) {
    const std::vector<std::string> hosts =
        address.scheme == "https" ? std::vector<std::string>{address.host} : resolve_(address.host);
    for (const std::string& host : hosts) {
      std::string url = address.scheme + "://" + host + ":" + std::to_string(address.port);
      const bool is_known = std::find(urls.begin(), urls.end(), url) != urls.end();
      if (!is_known && urls.size() < kMaxReplicas) urls.push_back(std::move(url));
    }
  }
  return urls;
}

void Peers::Refresh(base::MutexLock& lock, uint64_t now_ns) {
  if (is_finding_) {
    // Without any address yet, nobody can go on.
    while (is_finding_ && urls_.empty()) found_.Wait(lock);
    return;
  }
  is_finding_ = true;
  std::vector<std::string> found;
  {
    const base::MutexUnlock unlock(mutex_);
    try {
      found = Find();
    } catch (const std::bad_alloc&) {
      // The known addresses are used on.
    }
  }
  is_finding_ = false;
  found_.NotifyAll();
  found_until_ns_ = now_ns + kKeepNs;
  if (!found.empty()) urls_ = std::move(found);
  std::erase_if(avoided_until_ns_, [now_ns](const auto& each) { return each.second <= now_ns; });
}

std::vector<std::string> Peers::Urls() {
  const uint64_t now_ns = clock_.NowNs();
  base::MutexLock lock(mutex_);
  if (now_ns >= found_until_ns_) Refresh(lock, now_ns);
  std::vector<std::string> urls, avoided;
  for (const std::string& url : urls_) {
    const auto until = avoided_until_ns_.find(url);
    const bool is_avoided = until != avoided_until_ns_.end() && until->second > now_ns;
    (is_avoided ? avoided : urls).push_back(url);
  }
  urls.insert(urls.end(), avoided.begin(), avoided.end());
  return urls;
}

void Peers::NoteUnreachable(const std::string& url) {
  base::MutexLock lock(mutex_);
  avoided_until_ns_[url] = clock_.NowNs() + kAvoidNs;
}

}  // namespace nereid::handover
