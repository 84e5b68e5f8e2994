// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "request/inference_request.h"

namespace nereid::cache {

/// Receives what the cache did for a model, for the statistics. Called on any thread.
class CacheObserver {
 public:
  virtual ~CacheObserver() = default;

  /// Called before `request` is answered from the cache. `start_ns` and `end_ns` are the monotonic
  /// times of the look-up.
  virtual void OnHit(const request::InferenceRequest& request, uint64_t start_ns,
                     uint64_t end_ns) = 0;

  /// Called when the model has answered a request that the cache did not have. The time is that of
  /// the look-up and, if the response was inserted, of the insertion.
  virtual void OnMiss(uint64_t lookup_and_insertion_ns) = 0;
};

}  // namespace nereid::cache
