// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "request/inference_request.h"

namespace nereid::cache {

/// Is told what the cache did for a model; implemented by whoever keeps the statistics. Any thread.
class CacheObserver {
 public:
  virtual ~CacheObserver() = default;

  /// `request` is answered from the cache: looked up from `start_ns` to `end_ns`, monotonic. Called
  /// before the answer leaves.
  virtual void OnHit(const request::InferenceRequest& request, uint64_t start_ns,
                     uint64_t end_ns) = 0;

  /// A request that was looked up in vain has been answered by the model. The time is that of the
  /// look-up and, where the answer was inserted, of the insertion.
  virtual void OnMiss(uint64_t lookup_and_insertion_ns) = 0;
};

}  // namespace nereid::cache
