// SPDX-License-Identifier: Apache-2.0
#include "cache/caching_sink.h"

#include <exception>

#include "base/log.h"

namespace nereid::cache {

void CachingSink::Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept {
  const bool first = !std::exchange(sent_, true);
  if (final) {
    try {
      if (first && response != nullptr && response->error().ok()) {
        responses_.Store(*response, model_.lock(), digest_, lookup_ns_);
      } else {
        responses_.CountMiss(lookup_ns_);
      }
      // Out of memory: the response is sent without being stored.
    } catch (const std::exception& exception) {
      LOG_ERROR << "the response cache did not store a response: " << exception.what();
    }
  }
  // The receiver may destroy the response and with it this sink, so no member is used afterwards.
  ForwardingSink::Send(std::move(response), final);
}

}  // namespace nereid::cache
