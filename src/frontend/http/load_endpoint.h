// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/inference_service.h"
#include "base/result.h"
#include "frontend/http/route.h"

namespace nereid::frontend::http {

/// The document that shows the loads of a model, and their cancellation.
class LoadEndpoint {
 public:
  explicit LoadEndpoint(api::InferenceService& service) : service_(service) {}

  /// Returns the document of the loads of the route's model (GET), or cancels them (DELETE) and
  /// returns an empty text.
  base::Result<std::string> Document(const Route& route, Method method) const;

 private:
  api::InferenceService& service_;
};

}  // namespace nereid::frontend::http
