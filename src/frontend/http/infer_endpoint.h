// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/inference_service.h"
#include "frontend/http/http_handler.h"
#include "frontend/http/kserve_options.h"
#include "frontend/http/off_loop.h"
#include "frontend/http/route.h"
#include "request/inference_request.h"

namespace nereid::frontend::http {

/// Counts the inference request of `exchange` as refused. If its deadline has passed, that is the
/// reason.
void CountRefused(api::InferenceService& service, const KserveOptions& options,
                  const Exchange& exchange, api::RefusedAt at, base::StatusCode code);

/// POST …/infer: inference with tensors in JSON, in binary, or both.
class InferEndpoint {
 public:
  /// `workers` decode the requests that are too large for a loop.
  InferEndpoint(const KserveOptions& options, api::InferenceService& service, OffLoop& workers)
      : options_(options), service_(service), workers_(workers) {}

  /// Returns memory in which the model of `route` wants `size` bytes of tensors; a buffer without
  /// data if it has no wish.
  memory::HostBuffer TakeBodyMemory(const Route& route, size_t size) const;

  /// Decodes and submits the request of `exchange`, or replies with an error.
  void Handle(Exchange& exchange, const Route& route) const;

  /// Returns whether MakeReply() takes too long for a loop.
  bool IsLargeReply(const Exchange& exchange, const request::InferenceResponse* response) const;

  /// Makes the reply; as HttpHandler::MakeInferenceReply.
  void MakeReply(Exchange& exchange, std::unique_ptr<request::InferenceResponse> response,
                 int count) const;

 private:
  using RequestPtr = std::unique_ptr<request::InferenceRequest>;

  base::Status Begin(const Route& route, request::InferenceRequest* request) const;
  /// Counts the request as refused, and replies with the error.
  void Refuse(Exchange& exchange, api::RefusedAt at, const base::Status& status,
              std::string_view error_type) const;
  void DecodeOffLoop(Exchange& exchange, RequestPtr request) const;
  base::Status Decode(Exchange& exchange, request::InferenceRequest* request,
                      std::string_view* error_type) const;
  base::Status Submit(Exchange& exchange, RequestPtr request, bool may_run_inline) const;

  const KserveOptions& options_;
  api::InferenceService& service_;
  OffLoop& workers_;
};

}  // namespace nereid::frontend::http
