// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/inference_service.h"
#include "frontend/http/exchange.h"
#include "frontend/http/off_loop.h"
#include "frontend/http/route.h"

namespace nereid::frontend::http {

/// What other replicas of the server ask for: api::SequenceHandover.
class SequenceEndpoint {
 public:
  explicit SequenceEndpoint(api::InferenceService& service) : service_(service) {}

  /// Replies to one of the three operations; 404 if the server hands no sequences over, and 403 to
  /// a message without the replicas' token.
  void Handle(Exchange& exchange, Endpoint endpoint);

  /// Drops the work that has not begun, and waits for the rest.
  void Stop() { workers_.Stop(); }

 private:
  void Reply(Exchange& exchange, Endpoint endpoint) const;

  api::InferenceService& service_;
  // Of their own: other documents may wait for files, while requests wait for these.
  static constexpr size_t kMaxThreads = 4;
  OffLoop workers_{"http-sequences", kMaxThreads};
};

}  // namespace nereid::frontend::http
