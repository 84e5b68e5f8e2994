// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/inference_service.h"
#include "frontend/http/http_handler.h"
#include "frontend/http/kserve_options.h"
#include "frontend/http/off_loop.h"
#include "frontend/http/route.h"

namespace nereid::frontend::http {

/// POST …/generate and …/generate_stream: inference with flat JSON objects. The reply is one such
/// object, or a stream with one server-sent event for each response.
class GenerateEndpoint {
 public:
  /// `workers` decode the requests that are too large for a loop.
  GenerateEndpoint(const KserveOptions& options, api::InferenceService& service, OffLoop& workers)
      : options_(options), service_(service), workers_(workers) {}

  /// Decodes and submits the request of `exchange`, or replies with an error.
  void Handle(Exchange& exchange, const Route& route) const;

  /// Returns whether MakeReply() takes too long for a loop.
  bool IsLargeReply(const request::InferenceResponse* response) const;

  /// Makes the reply of …/generate; as HttpHandler::MakeInferenceReply.
  void MakeReply(Exchange& exchange, std::unique_ptr<request::InferenceResponse> response,
                 int count) const;

 private:
  struct Call;

  base::Status Begin(Exchange& exchange, const Route& route, Call* call) const;
  /// Counts the request as refused, and replies with the error.
  void Refuse(Exchange& exchange, api::RefusedAt at, const base::Status& status) const;
  void DecodeOffLoop(Exchange& exchange, std::shared_ptr<Call> call) const;
  base::Status Decode(Exchange& exchange, Call* call) const;
  base::Status Submit(Exchange& exchange, Call* call, bool may_run_inline) const;

  const KserveOptions& options_;
  api::InferenceService& service_;
  OffLoop& workers_;
};

}  // namespace nereid::frontend::http
