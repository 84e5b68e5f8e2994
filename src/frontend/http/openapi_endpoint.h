// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/inference_service.h"
#include "frontend/http/exchange.h"
#include "frontend/http/off_loop.h"
#include "frontend/http/route.h"

namespace nereid::frontend::http {

/// The OpenAPI documents of the server and of a model.
class OpenApiEndpoint {
 public:
  OpenApiEndpoint(api::InferenceService& service, OffLoop& workers)
      : service_(service), workers_(workers) {}

  /// Answers with the document of the route's model, or of the server if the route has no model.
  void Handle(Exchange& exchange, const Route& route) const;

 private:
  std::string ServerDocument() const;
  base::Result<std::string> ModelDocument(const Route& route) const;

  api::InferenceService& service_;
  OffLoop& workers_;
};

/// Returns the paths of a form in the route table: with and without each part in brackets, and with
/// each word of "(a|b)".
std::vector<std::string> PathsOfForm(std::string_view form);

}  // namespace nereid::frontend::http
