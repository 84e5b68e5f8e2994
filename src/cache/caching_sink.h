// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "cache/model_cache.h"
#include "request/forwarding_sink.h"

namespace nereid::cache {

/// Stores the response of a request that the cache did not have. Only a single successful response
/// with the final flag is stored: an error should not be repeated to other clients, and several
/// responses cannot be stored.
class CachingSink final : public request::ForwardingSink {
 public:
  /// `model` keeps `cache` alive.
  CachingSink(std::shared_ptr<request::ResponseSink> next, ModelCache& cache,
              std::shared_ptr<const request::ModelIdentity> model, const Digest& digest,
              uint64_t lookup_ns)
      : ForwardingSink(std::move(next)),
        cache_(cache),
        model_(std::move(model)),
        digest_(digest),
        lookup_ns_(lookup_ns) {}

  void Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept override;

 private:
  ModelCache& cache_;
  const std::shared_ptr<const request::ModelIdentity> model_;
  const Digest digest_;
  const uint64_t lookup_ns_;
  bool sent_ = false;  // needs no lock: responses are sent one at a time
};

}  // namespace nereid::cache
