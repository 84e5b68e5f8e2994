// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/openapi_endpoint.h"

#include <memory>

#include "codec/json/openapi.h"

namespace nereid::frontend::http {
namespace {

using codec::json::OpenApiRoute;

/// Returns the place of the bracket that closes the one at `open`. The forms are constants, whose
/// brackets match.
size_t ClosingBracket(std::string_view form, size_t open) {
  int depth = 0;
  for (size_t i = open; i < form.size(); ++i) {
    if (form[i] == '[') ++depth;
    if (form[i] == ']' && --depth == 0) return i;
  }
  return form.size();
}

void AddRoutes(const EndpointSpec& spec, std::vector<OpenApiRoute>* routes) {
  for (const std::string& path : PathsOfForm(spec.form)) {
    if (spec.get) routes->push_back({path, "get", *spec.get});
    if (spec.post) routes->push_back({path, "post", *spec.post});
    if (spec.put) routes->push_back({path, "put", *spec.put});
    if (spec.remove) routes->push_back({path, "delete", *spec.remove});
  }
}

}  // namespace

std::vector<std::string> PathsOfForm(std::string_view form) {
  const size_t open = form.find_first_of("[(");
  if (open == form.npos) return {std::string(form)};
  const bool is_optional = form[open] == '[';
  const size_t close = is_optional ? ClosingBracket(form, open) : form.find(')', open);
  const std::string before(form.substr(0, open)), after(form.substr(close + 1));
  const std::string_view inside = form.substr(open + 1, close - open - 1);
  std::vector<std::string> parts;
  if (is_optional) {
    parts = {"", std::string(inside)};
  } else {
    const size_t bar = inside.find('|');
    parts = {std::string(inside.substr(0, bar)), std::string(inside.substr(bar + 1))};
  }
  std::vector<std::string> paths;
  for (const std::string& part : parts) {
    for (std::string& path : PathsOfForm(before + part + after)) paths.push_back(std::move(path));
  }
  return paths;
}

std::string OpenApiEndpoint::ServerDocument() const {
  std::vector<OpenApiRoute> routes;
  for (const EndpointSpec& spec : AllEndpoints()) AddRoutes(spec, &routes);
  return codec::json::EncodeServerOpenApi(service_.GetServerMetadata(), routes);
}

base::Result<std::string> OpenApiEndpoint::ModelDocument(const Route& route) const {
  const std::string name(route.model);
  NEREID_ASSIGN_OR_RETURN(const int64_t version, service_.ResolveVersion(name, route.version));
  codec::json::OpenApiModel model;
  NEREID_ASSIGN_OR_RETURN(model.metadata, service_.GetModelMetadata(name, version));
  NEREID_ASSIGN_OR_RETURN(const std::shared_ptr<const config::ModelConfig> config,
                          service_.GetModelConfig(name, version));
  model.version = route.version;
  model.decoupled = config->decoupled();
  model.has_sequences = config->sequence_batching().has_value();
  for (const config::TensorSpec& input : config->inputs()) {
    if (input.optional) model.optional_inputs.push_back(input.name);
  }
  model.server_version = service_.GetServerMetadata().version;
  return codec::json::EncodeModelOpenApi(model);
}

base::Result<std::string> OpenApiEndpoint::Document(const Route& route) const {
  if (route.endpoint == Endpoint::kServerOpenApi) return ServerDocument();
  return ModelDocument(route);
}

}  // namespace nereid::frontend::http
