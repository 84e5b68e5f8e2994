// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "codec/json/openapi.h"

namespace nereid::codec::json {

using base::JsonWriter;

const std::string_view kOpenApiErrorSchema =
    R"({"type":"object","required":["error"],"properties":{"error":{"type":"string"}}})";

const std::string_view kOpenApiSecuritySchemes = R"({"bearer":{"type":"http","scheme":"bearer"}})";

void WriteOpenApiHead(const std::string& title, const std::string& version,
                      const std::string& description, JsonWriter* json) {
  json->Key("openapi").String("3.1.0").Key("info").BeginObject();
  json->Key("title").String(title).Key("version").String(version);
  json->Key("description").String(description).EndObject();
  json->Key("servers").Raw(R"([{"url":"/"}])");
  // A server without roles asks nobody for a token.
  json->Key("security").Raw(R"([{},{"bearer":[]}])");
}

void WriteOpenApiAccess(api::Operation operation, JsonWriter* json) {
  const api::OperationFacts& facts = api::FactsOf(operation);
  json->Key("tags").BeginArray().String(api::CategoryName(facts.category)).EndArray();
  json->Key("x-nereid-roles").BeginArray();
  for (const api::Role role : {api::Role::kInfer, api::Role::kObserve, api::Role::kManage}) {
    if (facts.roles.Has(role)) json->String(api::RoleWords({role}));
  }
  json->EndArray();
}

void WriteOpenApiError(JsonWriter* json) {
  json->Key("default").Raw(
      R"({"description":"The request was refused or failed.","content":{"application/json":)"
      R"({"schema":{"$ref":"#/components/schemas/Error"}}}})");
}

namespace {

// The tensors of any model; the documents of models say which there are.
constexpr std::string_view kSchemas =
    R"("Parameters":{"type":"object","additionalProperties":{"type":["string","number","boolean"]}},)"
    R"("Tensor":{"type":"object","required":["name","datatype","shape"],"properties":{)"
    R"("name":{"type":"string"},"datatype":{"enum":["BOOL","UINT8","UINT16","UINT32","UINT64",)"
    R"("INT8","INT16","INT32","INT64","FP16","FP32","FP64","BF16","BYTES"]},)"
    R"("shape":{"type":"array","items":{"type":"integer","minimum":0}},)"
    R"("parameters":{"$ref":"#/components/schemas/Parameters"},"data":{"type":"array"}}},)"
    R"("RequestedOutput":{"type":"object","required":["name"],"properties":{)"
    R"("name":{"type":"string"},"parameters":{"$ref":"#/components/schemas/Parameters"}}},)"
    R"("InferRequest":{"type":"object","required":["inputs"],"properties":{"id":{"type":"string"},)"
    R"("parameters":{"$ref":"#/components/schemas/Parameters"},)"
    R"("inputs":{"type":"array","items":{"$ref":"#/components/schemas/Tensor"}},)"
    R"("outputs":{"type":"array","items":{"$ref":"#/components/schemas/RequestedOutput"}}}},)"
    R"("InferResponse":{"type":"object","required":["model_name","outputs"],"properties":{)"
    R"("id":{"type":"string"},"model_name":{"type":"string"},"model_version":{"type":"string"},)"
    R"("parameters":{"$ref":"#/components/schemas/Parameters"},)"
    R"("outputs":{"type":"array","items":{"$ref":"#/components/schemas/Tensor"}}}})";

/// Returns "get_v2_models_model_stats" for the path "/v2/models/{model}/stats".
std::string OperationId(const OpenApiRoute& route) {
  std::string id(route.method);
  for (const char c : route.path) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_word) id += c;
    if (!is_word && c != '}' && c != '{' && !id.ends_with('_')) id += '_';
  }
  return id;
}

void WriteParameters(const std::string& path, JsonWriter* json) {
  json->Key("parameters").BeginArray();
  for (size_t at = path.find('{'); at != path.npos; at = path.find('{', at + 1)) {
    const size_t end = path.find('}', at);
    json->BeginObject().Key("name").String(path.substr(at + 1, end - at - 1));
    json->Key("in").String("path").Key("required").Bool(true);
    json->Key("schema").Raw(R"({"type":"string"})").EndObject();
  }
  json->EndArray();
}

void WriteRoute(const OpenApiRoute& route, JsonWriter* json) {
  const bool is_inference = route.operation == api::Operation::kInfer;
  const bool is_infer = is_inference && route.path.ends_with("/infer");
  json->Key(route.method).BeginObject();
  json->Key("operationId").String(OperationId(route));
  json->Key("summary").String(api::FactsOf(route.operation).name);
  WriteOpenApiAccess(route.operation, json);
  if (route.method == "post" || route.method == "put") {
    json->Key("requestBody").BeginObject().Key("required").Bool(is_inference);
    json->Key("content").BeginObject().Key("application/json").BeginObject().Key("schema");
    json->Raw(is_infer ? R"({"$ref":"#/components/schemas/InferRequest"})"
                       : R"({"type":"object"})");
    json->EndObject().EndObject().EndObject();
  }
  json->Key("responses").BeginObject().Key("200").BeginObject();
  json->Key("description").String("Done.");
  if (is_infer) {
    json->Key("content").Raw(
        R"({"application/json":{"schema":{"$ref":"#/components/schemas/InferResponse"}}})");
  }
  json->EndObject();
  WriteOpenApiError(json);
  json->EndObject().EndObject();
}

}  // namespace

std::string EncodeServerOpenApi(const api::ServerMetadata& server,
                                std::span<const OpenApiRoute> routes) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  WriteOpenApiHead(server.name, server.version,
                   "The inference protocol KServe v2 with the extensions of this server. "
                   "GET v2/models/{model}/openapi.json describes one model.",
                   &json);
  json.Key("paths").BeginObject();
  for (size_t i = 0; i < routes.size(); ++i) {
    const bool is_new_path = i == 0 || routes[i].path != routes[i - 1].path;
    if (is_new_path) {
      if (i != 0) json.EndObject();
      json.NewLine().Key(routes[i].path).BeginObject();
      WriteParameters(routes[i].path, &json);
    }
    WriteRoute(routes[i], &json);
  }
  if (!routes.empty()) json.EndObject();
  json.EndObject().Key("components");
  json.BeginObject().Key("schemas").Raw("{\"Error\":" + std::string(kOpenApiErrorSchema) + "," +
                                        std::string(kSchemas) + "}");
  json.Key("securitySchemes").Raw(kOpenApiSecuritySchemes).EndObject();
  json.EndObject();
  return text;
}

}  // namespace nereid::codec::json
