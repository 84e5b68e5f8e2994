// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/inference_service.h"
#include "frontend/http/http_handler.h"
#include "frontend/http/kserve_options.h"
#include "frontend/http/off_loop.h"
#include "frontend/http/route.h"

namespace nereid::frontend::http {

/// POST …/generate and …/generate_stream: inference with flat JSON objects, answered with one such
/// object or with one server-sent event for each response.
class GenerateEndpoint {
 public:
  /// `workers` decode what is too large for a loop.
  GenerateEndpoint(const KserveOptions& options, api::InferenceService& service, OffLoop& workers)
      : options_(options), service_(service), workers_(workers) {}

  /// Submits the request, or answers with an error.
  void Handle(Exchange& exchange, const Route& route) const;

  /// Whether MakeReply() would take too long for a loop.
  bool IsLargeReply(const request::InferenceResponse* response) const;

  /// Makes generate's reply of the first of `count` responses.
  void MakeReply(Exchange& exchange, std::unique_ptr<request::InferenceResponse> response,
              int count) const;

 private:
  struct Call;

  base::Status Begin(Exchange& exchange, const Route& route, Call* call) const;
  void DecodeOffLoop(Exchange& exchange, std::shared_ptr<Call> call) const;
  base::Status Decode(Exchange& exchange, Call* call) const;
  base::Status Submit(Exchange& exchange, Call* call, bool may_run_inline) const;

  const KserveOptions& options_;
  api::InferenceService& service_;
  OffLoop& workers_;
};

}  // namespace nereid::frontend::http
