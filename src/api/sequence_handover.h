// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nereid::api {

/// What other replicas of the server ask for to continue its sequences. The bodies are the messages
/// of handover/messages.h. Thread-safe; every function may block, so none may be called on an event
/// loop.
class SequenceHandover {
 public:
  virtual ~SequenceHandover() = default;

  /// Returns whether the message has the replicas' common token. The other functions must only be
  /// called with messages for which this holds.
  virtual bool IsFromReplica(std::string_view body) const = 0;

  /// Holds a sequence for the replica that asks, and returns it. NOT_FOUND if it is not here,
  /// UNAVAILABLE while its requests are not completed, UNSUPPORTED and INVALID_ARGUMENT if it
  /// cannot be handed over.
  virtual base::Result<std::string> Claim(std::string_view body) = 0;
  /// Ends a hold. NOT_FOUND if there is none any more.
  virtual base::Status Settle(std::string_view body) = 0;
  /// Has the sequences fetched that another replica offers.
  virtual base::Status Offer(std::string_view body) = 0;

  /// Offers all open sequences that can be handed over to the other replicas, and waits until they
  /// are gone: at most until `deadline_ns` (monotonic), and not if no replica can be reached. For a
  /// server that stops, while its front ends still serve.
  virtual void OfferAll(uint64_t deadline_ns) = 0;
};

}  // namespace nereid::api
