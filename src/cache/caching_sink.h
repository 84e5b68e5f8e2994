// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "cache/model_cache.h"
#include "request/forwarding_sink.h"

namespace nereid::cache {

/// Stores the answer of a request that was looked up in vain. Only an answer that is one good
/// response with the final flag: an error is not what the next client should get, and several
/// responses are not one.
class CachingSink final : public request::ForwardingSink {
 public:
  /// `model` owns `cache`.
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
  bool sent_ = false;  // used by one thread at a time, as responses are sent
};

}  // namespace nereid::cache
