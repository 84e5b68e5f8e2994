// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/inference_service.h"
#include "frontend/http/exchange.h"
#include "frontend/http/off_loop.h"
#include "frontend/http/route.h"

namespace nereid::frontend::http {

/// The document that shows the loads of a model, and their cancellation.
class LoadEndpoint {
 public:
  LoadEndpoint(api::InferenceService& service, OffLoop& workers)
      : service_(service), workers_(workers) {}

  /// Shows (GET) or cancels (DELETE) the loads of the route's model.
  void Handle(Exchange& exchange, const Route& route, Method method) const;

 private:
  /// Returns the document of GET; an empty text of DELETE.
  base::Result<std::string> Answer(const Route& route, Method method) const;

  api::InferenceService& service_;
  OffLoop& workers_;
};

}  // namespace nereid::frontend::http
