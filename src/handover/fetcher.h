// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/log_throttle.h"
#include "base/result.h"
#include "curl/http_client.h"
#include "handover/local_sequences.h"
#include "handover/messages.h"
#include "handover/peers.h"

namespace nereid::handover {

/// The paths of the operations of a replica, all of them POST with a message as their body.
inline constexpr std::string_view kClaimPath = "/v2/sequences/claim";
inline constexpr std::string_view kSettlePath = "/v2/sequences/settle";
inline constexpr std::string_view kOfferPath = "/v2/sequences/offer";

/// Fetches sequences from other replicas. Thread-safe; every function blocks, so none may be called
/// on an event loop.
class Fetcher {
 public:
  struct Settings {
    std::string secret;   // the replicas' common token
    std::string replica;  // a random name of this server
    /// Waits for some nanoseconds. Returns false, perhaps earlier, when the server stops.
    std::function<bool(uint64_t ns)> pause;
    /// Returns whether the server stops, so that requests to peers end.
    std::function<bool()> is_stopping;
    /// Returns whether another replica is fetching this sequence from this server.
    std::function<bool(const SequenceKey&)> is_leaving;
  };
  /// How long a sequence is asked for, from the first question on.
  static constexpr uint64_t kMaxNs = 10'000'000'000;
  /// How long to wait before a replica is asked again that has not completed the sequence's
  /// request.
  static constexpr uint64_t kPauseNs = 20'000'000;
  /// How often a settlement is sent whose answer does not come.
  static constexpr int kMaxSettlements = 3;

  /// Everything referenced must outlive the object.
  Fetcher(LocalSequences& sequences, Peers& peers, curl::HttpClient& client,
          const base::Clock& clock, Settings settings)
      : sequences_(sequences),
        peers_(peers),
        client_(client),
        clock_(clock),
        settings_(std::move(settings)) {}

  /// Fetches the sequence from the replica that has it. OK: it is served here. NOT_FOUND: no
  /// replica has it that can be reached. Errors of LocalSequences::Take there and
  /// LocalSequences::Put here; UNAVAILABLE if a request of it is not completed in time.
  base::Status Fetch(const SequenceKey& key, bool needs_slot);

  /// Offers sequences to one replica, the `turn`-th. Returns UNAVAILABLE if there is none, or if it
  /// cannot be reached.
  base::Status Offer(std::vector<SequenceKey> keys, size_t turn);

 private:
  /// Asks every replica once. Nothing: one has not completed the sequence's requests.
  std::optional<base::Status> FetchOnce(const SequenceKey& key, bool needs_slot);
  /// Takes what a replica has answered. Nothing: ask again.
  std::optional<base::Status> Accept(const std::string& url, const SequenceKey& key,
                                     std::string_view bytes, bool needs_slot);
  base::Status Settle(const std::string& url, const std::string& hold, bool takes);
  base::Result<curl::HttpResponse> Post(const std::string& url, std::string_view path,
                                        std::string body);
  void Warn(const std::string& text);

  LocalSequences& sequences_;
  Peers& peers_;
  curl::HttpClient& client_;
  const base::Clock& clock_;
  const Settings settings_;
  base::LogThrottle warnings_;
};

}  // namespace nereid::handover
