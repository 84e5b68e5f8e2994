// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/inference_service.h"
#include "frontend/http/route.h"

namespace nereid::frontend::http {

/// The OpenAPI documents of the server and of a model.
class OpenApiEndpoint {
 public:
  explicit OpenApiEndpoint(api::InferenceService& service) : service_(service) {}

  /// Returns the document of the route's model, or of the server if the route has no model.
  base::Result<std::string> Document(const Route& route) const;

 private:
  std::string ServerDocument() const;
  base::Result<std::string> ModelDocument(const Route& route) const;

  api::InferenceService& service_;
};

/// Returns the paths of a form in the route table: with and without each part in brackets, and with
/// each word of "(a|b)".
std::vector<std::string> PathsOfForm(std::string_view form);

}  // namespace nereid::frontend::http
