// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "cache/digest.h"
#include "request/forwarding_sink.h"
#include "request/inference_response.h"

namespace nereid::cache {

/// Receives the responses to requests that the cache did not have. Implemented by ModelCache.
class MissedResponses {
 public:
  virtual ~MissedResponses() = default;
  /// Stores `response` under `digest`. `model` owns this object and keeps it alive while the
  /// insertion waits for a thread. `lookup_ns` is the time that the look-up took.
  virtual void Store(const request::InferenceResponse& response,
                     const std::shared_ptr<const request::ModelIdentity>& model,
                     const Digest& digest, uint64_t lookup_ns) = 0;
  /// Counts a miss whose response is not stored.
  virtual void CountMiss(uint64_t lookup_ns) = 0;
};

/// Stores the response of a request that the cache did not have. Only a single successful response
/// with the final flag is stored: an error should not be repeated to other clients, and several
/// responses cannot be stored.
class CachingSink final : public request::ForwardingSink {
 public:
  /// `model` owns `responses`. The factory of the responses keeps it alive.
  CachingSink(std::shared_ptr<request::ResponseSink> next, MissedResponses& responses,
              const std::shared_ptr<const request::ModelIdentity>& model, const Digest& digest,
              uint64_t lookup_ns)
      : ForwardingSink(std::move(next)),
        responses_(responses),
        model_(model),
        digest_(digest),
        lookup_ns_(lookup_ns) {}

  void Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept override;

 private:
  MissedResponses& responses_;
  // Not shared: the references to a model show how many requests it has.
  const std::weak_ptr<const request::ModelIdentity> model_;
  const Digest digest_;
  const uint64_t lookup_ns_;
  bool sent_ = false;  // needs no lock: responses are sent one at a time
};

}  // namespace nereid::cache
