// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/inference_service.h"
#include "frontend/http/http_handler.h"
#include "frontend/http/kserve_handler.h"
#include "frontend/http/route.h"

namespace nereid::frontend::http {

/// POST …/generate and …/generate_stream: inference with flat JSON objects, answered with one such
/// object or with one server-sent event for each response.
class GenerateEndpoint {
 public:
  GenerateEndpoint(const KserveOptions& options, api::InferenceService& service)
      : options_(options), service_(service) {}

  /// Submits the request, or answers with an error.
  void Handle(Exchange& exchange, const Route& route) const;

  /// Makes generate's reply of the first of `count` responses.
  void Answer(Exchange& exchange, std::unique_ptr<request::InferenceResponse> response,
              int count) const;

 private:
  base::Status Submit(Exchange& exchange, const Route& route) const;

  const KserveOptions& options_;
  api::InferenceService& service_;
};

}  // namespace nereid::frontend::http
