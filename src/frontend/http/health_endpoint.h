// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/inference_service.h"
#include "frontend/http/exchange.h"
#include "frontend/http/request_head.h"
#include "frontend/http/route.h"

namespace nereid::frontend::http {

/// Returns whether a request for health wants a document with the reasons: its query has
/// "reason=true". (Not the field Accept: clients and browsers send that without a thought, and
/// would get other bodies than from Triton.)
bool AsksForReasons(const RequestHead& head);

/// The health documents with reasons, and the drain.
class HealthEndpoint {
 public:
  explicit HealthEndpoint(api::InferenceService& service) : service_(service) {}

  /// Sets the reply to a request for liveness or readiness: the status that it has without reasons,
  /// and a document. Asks plug-ins. The views in `route` are parts of the exchange's target.
  void Explain(Exchange& exchange, const Route& route) const;

  /// Shows (GET), begins or changes (POST) or ends (DELETE) the drain, and sets the reply.
  void Drain(Exchange& exchange, Method method) const;

 private:
  api::InferenceService& service_;
};

}  // namespace nereid::frontend::http
