// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/inference_service.h"
#include "frontend/http/http_handler.h"
#include "frontend/http/kserve_handler.h"
#include "frontend/http/route.h"

namespace nereid::frontend::http {

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kTextType = "text/plain";

/// POST …/infer.
class InferEndpoint {
 public:
  InferEndpoint(const KserveOptions& options, api::InferenceService& service)
      : options_(options), service_(service) {}

  /// Submits the request, or answers with an error.
  void Handle(Exchange& exchange, const Route& route) const;

  void Answer(Exchange& exchange, std::unique_ptr<request::InferenceResponse> response,
              int count) const;

 private:
  base::Status Submit(Exchange& exchange, const Route& route, std::string_view* error_type) const;

  const KserveOptions& options_;
  api::InferenceService& service_;
};

}  // namespace nereid::frontend::http
