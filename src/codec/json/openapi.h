// SPDX-License-Identifier: Apache-2.0
// The OpenAPI 3.1 documents of a server and of its models. Schemas are JSON Schema, draft 2020-12.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/access/operation.h"
#include "api/metadata.h"
#include "base/json_writer.h"

namespace nereid::codec::json {

/// A method of a path of the server.
struct OpenApiRoute {
  std::string path;         // with {names} for the parts that a client chooses
  std::string_view method;  // "get", "post", "put" or "delete"
  api::Operation operation;
};

/// Returns the document of a server. Routes of the same path follow each other.
std::string EncodeServerOpenApi(const api::ServerMetadata& server,
                                std::span<const OpenApiRoute> routes);

/// A model for its document.
struct OpenApiModel {
  api::ModelMetadata metadata;
  std::string version;  // the part of the path; empty: the server chooses
  std::vector<std::string> optional_inputs;
  bool decoupled = false;
  bool has_sequences = false;
  std::string server_version;
};

/// The largest number of elements of all inputs for which the document has an example.
inline constexpr int64_t kMaxExampleElements = 65'536;

/// Returns the document of a model: the paths that serve it, the types and shapes of its tensors,
/// and a request that the model answers, with zeros and empty texts. There is no example where JSON
/// cannot carry a required input (FP16, BF16) or it has too many elements.
std::string EncodeModelOpenApi(const OpenApiModel& model);

/// Writes the members "openapi", "info" and "servers".
void WriteOpenApiHead(const std::string& title, const std::string& version,
                      const std::string& description, base::JsonWriter* json);

/// Writes the members of an operation that follow from its category and roles: "tags" and
/// "x-nereid-roles".
void WriteOpenApiAccess(api::Operation operation, base::JsonWriter* json);

/// Writes the member "default" of "responses": an error.
void WriteOpenApiError(base::JsonWriter* json);

/// The schema of an error, and how a client authenticates if the server asks for it: the values of
/// "Error" in "schemas" and of "securitySchemes".
extern const std::string_view kOpenApiErrorSchema;
extern const std::string_view kOpenApiSecuritySchemes;

}  // namespace nereid::codec::json
