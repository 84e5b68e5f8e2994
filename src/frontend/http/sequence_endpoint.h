// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/inference_service.h"
#include "frontend/http/exchange.h"
#include "frontend/http/route.h"

namespace nereid::frontend::http {

/// What other replicas of the server ask for: api::SequenceHandover.
class SequenceEndpoint {
 public:
  explicit SequenceEndpoint(api::InferenceService& service) : service_(service) {}

  /// Sets the reply to one of the three operations; 404 if the server hands no sequences over, and
  /// 403 to a message without the replicas' token.
  void Reply(Exchange& exchange, Endpoint endpoint) const;

 private:
  api::InferenceService& service_;
};

}  // namespace nereid::frontend::http
