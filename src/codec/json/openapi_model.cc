// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "base/percent_text.h"
#include "codec/json/openapi.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace nereid::codec::json {
namespace {

using api::Operation;
using api::TensorMetadata;
using base::JsonWriter;
using tensor::DataType;

bool IsOptional(const OpenApiModel& model, const TensorMetadata& input) {
  return std::find(model.optional_inputs.begin(), model.optional_inputs.end(), input.name) !=
         model.optional_inputs.end();
}

/// Returns whether JSON can carry the elements.
bool HasJsonForm(const TensorMetadata& tensor) {
  const DataType type = tensor::DataTypeFromName(tensor.datatype);
  return type != DataType::kFp16 && type != DataType::kBf16 && type != DataType::kInvalid;
}

/// Returns the schema of one element.
std::string_view ElementSchema(DataType type) {
  switch (type) {
    case DataType::kBool:
      return R"({"type":"boolean"})";
    case DataType::kBytes:
      return R"({"type":"string"})";
    case DataType::kUint8:
      return R"({"type":"integer","minimum":0,"maximum":255})";
    case DataType::kUint16:
      return R"({"type":"integer","minimum":0,"maximum":65535})";
    case DataType::kUint32:
      return R"({"type":"integer","minimum":0,"maximum":4294967295})";
    case DataType::kUint64:
      return R"({"type":"integer","minimum":0})";
    case DataType::kInt8:
      return R"({"type":"integer","minimum":-128,"maximum":127})";
    case DataType::kInt16:
      return R"({"type":"integer","minimum":-32768,"maximum":32767})";
    case DataType::kInt32:
      return R"({"type":"integer","format":"int32"})";
    case DataType::kInt64:
      return R"({"type":"integer","format":"int64"})";
    case DataType::kFp64:
      return R"({"type":"number","format":"double"})";
    default:
      return R"({"type":"number","format":"float"})";
  }
}

/// Returns a zero of the type, false or the empty text.
std::string_view ZeroText(DataType type) {
  if (type == DataType::kBool) return "false";
  return type == DataType::kBytes ? R"("")" : "0";
}

void WriteConst(std::string_view value, JsonWriter* json) {
  json->BeginObject().Key("const").String(value).EndObject();
}

void WriteShapeSchema(const tensor::Shape& shape, JsonWriter* json) {
  json->BeginObject().Key("type").String("array");
  json->Key("minItems").Integer(shape.size()).Key("maxItems").Integer(shape.size());
  // The list of prefixItems must not be empty.
  if (!shape.empty()) {
    json->Key("prefixItems").BeginArray();
    for (const int64_t dim : shape) {
      if (dim == tensor::kVariableDim) {
        json->Raw(R"({"type":"integer","minimum":0})");
      } else {
        json->BeginObject().Key("const").Integer(dim).EndObject();
      }
    }
    json->EndArray();
  }
  json->EndObject();
}

void WriteTensorSchema(const TensorMetadata& tensor, JsonWriter* json) {
  json->BeginObject().Key("title").String(tensor.name).Key("type").String("object");
  json->Key("required").Raw(R"(["name","datatype","shape"])").Key("properties").BeginObject();
  json->Key("name");
  WriteConst(tensor.name, json);
  json->Key("datatype");
  WriteConst(tensor.datatype, json);
  json->Key("shape");
  WriteShapeSchema(tensor.shape, json);
  json->Key("parameters").Raw(R"({"type":"object"})");
  if (HasJsonForm(tensor)) {
    json->Key("data").BeginObject().Key("type").String("array");
    json->Key("description").String("The elements in row-major order.").Key("items");
    json->Raw(ElementSchema(tensor::DataTypeFromName(tensor.datatype))).EndObject();
  }
  json->EndObject().EndObject();
}

/// Writes the schemas "Input0", "Input1", … or "Output0", …: names of tensors need not be names of
/// components.
void WriteTensorSchemas(const char* prefix, const std::vector<TensorMetadata>& tensors,
                        JsonWriter* json) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    json->NewLine().Key(prefix + std::to_string(i));
    WriteTensorSchema(tensors[i], json);
  }
}

/// Writes the schema of a list that has one of the tensors in each place.
void WriteTensorList(const char* prefix, const std::vector<TensorMetadata>& tensors, size_t least,
                     JsonWriter* json) {
  json->BeginObject().Key("type").String("array").Key("minItems").Integer(least);
  json->Key("maxItems").Integer(tensors.size());
  if (!tensors.empty()) {
    json->Key("items").BeginObject().Key("oneOf").BeginArray();
    for (size_t i = 0; i < tensors.size(); ++i) {
      json->BeginObject().Key("$ref");
      json->String("#/components/schemas/" + std::string(prefix) + std::to_string(i)).EndObject();
    }
    json->EndArray().EndObject();
  }
  json->EndObject();
}

size_t RequiredInputs(const OpenApiModel& model) {
  const auto& inputs = model.metadata.inputs;
  return static_cast<size_t>(std::count_if(
      inputs.begin(), inputs.end(), [&](const auto& input) { return !IsOptional(model, input); }));
}

void WriteInferSchemas(const OpenApiModel& model, JsonWriter* json) {
  json->NewLine().Key("InferRequest").BeginObject().Key("type").String("object");
  json->Key("required").Raw(R"(["inputs"])").Key("properties").BeginObject();
  json->Key("id").Raw(R"({"type":"string"})").Key("parameters").Raw(R"({"type":"object"})");
  json->Key("inputs");
  WriteTensorList("Input", model.metadata.inputs, RequiredInputs(model), json);
  json->Key("outputs").BeginObject().Key("type").String("array").Key("items").BeginObject();
  json->Key("type").String("object").Key("required").Raw(R"(["name"])");
  json->Key("properties").BeginObject().Key("name").BeginObject().Key("enum").BeginArray();
  for (const TensorMetadata& output : model.metadata.outputs) json->String(output.name);
  json->EndArray().EndObject().Key("parameters").Raw(R"({"type":"object"})").EndObject();
  json->EndObject().EndObject().EndObject().EndObject();
  json->NewLine().Key("InferResponse").BeginObject().Key("type").String("object");
  json->Key("required").Raw(R"(["model_name","outputs"])").Key("properties").BeginObject();
  json->Key("id").Raw(R"({"type":"string"})").Key("model_name").Raw(R"({"type":"string"})");
  json->Key("model_version").Raw(R"({"type":"string"})");
  json->Key("parameters").Raw(R"({"type":"object"})").Key("outputs");
  WriteTensorList("Output", model.metadata.outputs, 0, json);
  json->EndObject().EndObject();
}

/// Returns the numbers of elements of the example's inputs; nothing if there can be no example.
std::optional<std::vector<int64_t>> ExampleCounts(const OpenApiModel& model) {
  std::vector<int64_t> counts;
  int64_t sum = 0;
  for (const TensorMetadata& input : model.metadata.inputs) {
    if (IsOptional(model, input)) {
      counts.push_back(0);
      continue;
    }
    const auto count = tensor::ElementCount(tensor::WithoutVariableDims(input.shape));
    if (!count || !HasJsonForm(input) || *count > kMaxExampleElements) return std::nullopt;
    counts.push_back(*count);
    sum += *count;
    if (sum > kMaxExampleElements) return std::nullopt;
  }
  return counts;
}

void WriteZeros(const TensorMetadata& input, int64_t count, JsonWriter* json) {
  const std::string_view zero = ZeroText(tensor::DataTypeFromName(input.datatype));
  json->BeginArray();
  for (int64_t i = 0; i < count; ++i) json->Raw(zero);
  json->EndArray();
}

constexpr std::string_view kSequenceParameters =
    R"({"sequence_id":1,"sequence_start":true,"sequence_end":true})";

void WriteInferExample(const OpenApiModel& model, const std::vector<int64_t>& counts,
                       JsonWriter* json) {
  json->Key("example").BeginObject();
  if (model.has_sequences) json->Key("parameters").Raw(kSequenceParameters);
  json->Key("inputs").BeginArray();
  for (size_t i = 0; i < counts.size(); ++i) {
    const TensorMetadata& input = model.metadata.inputs[i];
    if (IsOptional(model, input)) continue;
    json->BeginObject().Key("name").String(input.name).Key("datatype").String(input.datatype);
    json->Key("shape").BeginArray();
    for (const int64_t dim : tensor::WithoutVariableDims(input.shape)) json->Integer(dim);
    json->EndArray().Key("data");
    WriteZeros(input, counts[i], json);
    json->EndObject();
  }
  json->EndArray().EndObject();
}

/// The generate extension takes the elements of each input by its name.
void WriteGenerateExample(const OpenApiModel& model, const std::vector<int64_t>& counts,
                          JsonWriter* json) {
  json->Key("example").BeginObject();
  for (size_t i = 0; i < counts.size(); ++i) {
    const TensorMetadata& input = model.metadata.inputs[i];
    if (IsOptional(model, input)) continue;
    json->Key(input.name);
    WriteZeros(input, counts[i], json);
  }
  if (model.has_sequences) json->Key("parameters").Raw(kSequenceParameters);
  json->EndObject();
}

void WriteOperationHead(std::string_view method, const std::string& id, std::string_view summary,
                        Operation operation, JsonWriter* json) {
  json->Key(method).BeginObject().Key("operationId").String(id).Key("summary").String(summary);
  WriteOpenApiAccess(operation, json);
}

void WriteOk(std::string_view content, JsonWriter* json) {
  json->Key("responses").BeginObject().Key("200").BeginObject();
  json->Key("description").String("Done.");
  if (!content.empty()) json->Key("content").Raw(content);
  json->EndObject();
  WriteOpenApiError(json);
  json->EndObject().EndObject();
}

void WriteGet(const std::string& path, const std::string& id, std::string_view summary,
              Operation operation, JsonWriter* json) {
  json->NewLine().Key(path).BeginObject();
  WriteOperationHead("get", id, summary, operation, json);
  WriteOk("", json);
  json->EndObject();
}

void WriteInferPath(const OpenApiModel& model, const std::string& path, JsonWriter* json) {
  json->NewLine().Key(path + "/infer").BeginObject();
  WriteOperationHead("post", "infer", "Send a request to the model", Operation::kInfer, json);
  json->Key("requestBody").BeginObject().Key("required").Bool(true).Key("content").BeginObject();
  json->Key("application/json").BeginObject();
  json->Key("schema").Raw(R"({"$ref":"#/components/schemas/InferRequest"})");
  if (const auto counts = ExampleCounts(model)) WriteInferExample(model, *counts, json);
  json->EndObject().EndObject().EndObject();
  WriteOk(R"({"application/json":{"schema":{"$ref":"#/components/schemas/InferResponse"}}})", json);
  json->EndObject();
}

void WriteGeneratePath(const OpenApiModel& model, const std::string& path, const char* word,
                       std::string_view content, JsonWriter* json) {
  json->NewLine().Key(path + "/" + word).BeginObject();
  WriteOperationHead("post", word, "Send a request whose members are the inputs of the model",
                     Operation::kInfer, json);
  json->Key("requestBody").BeginObject().Key("required").Bool(true).Key("content").BeginObject();
  json->Key("application/json").BeginObject().Key("schema").Raw(R"({"type":"object"})");
  if (const auto counts = ExampleCounts(model)) WriteGenerateExample(model, *counts, json);
  json->EndObject().EndObject().EndObject();
  WriteOk(content, json);
  json->EndObject();
}

void WritePaths(const OpenApiModel& model, JsonWriter* json) {
  const std::string path = "/v2/models/" + base::PercentEncode(model.metadata.name) +
                           (model.version.empty() ? "" : "/versions/" + model.version);
  json->Key("paths").BeginObject();
  WriteGet(path, "metadata", "Show the inputs and outputs", Operation::kModelMetadata, json);
  WriteGet(path + "/ready", "ready", "Say whether the model serves", Operation::kModelReady, json);
  WriteGet(path + "/config", "config", "Show the configuration", Operation::kModelConfig, json);
  WriteGet(path + "/stats", "statistics", "Show the statistics", Operation::kStatistics, json);
  if (!model.decoupled) {
    WriteInferPath(model, path, json);
    WriteGeneratePath(model, path, "generate",
                      R"({"application/json":{"schema":{"type":"object"}}})", json);
  }
  WriteGeneratePath(model, path, "generate_stream",
                    R"({"text/event-stream":{"schema":{"type":"string"}}})", json);
  json->EndObject();
}

}  // namespace

std::string EncodeModelOpenApi(const OpenApiModel& model) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  WriteOpenApiHead(model.metadata.name, model.server_version,
                   model.decoupled
                       ? "A decoupled model: a request has any number of responses, as events."
                       : "A model. Tensors may also be sent as binary data behind the JSON "
                         "(Inference-Header-Content-Length); FP16 and BF16 must be.",
                   &json);
  WritePaths(model, &json);
  json.Key("components").BeginObject().Key("schemas").BeginObject();
  WriteTensorSchemas("Input", model.metadata.inputs, &json);
  WriteTensorSchemas("Output", model.metadata.outputs, &json);
  WriteInferSchemas(model, &json);
  json.NewLine().Key("Error").Raw(kOpenApiErrorSchema);
  json.EndObject().Key("securitySchemes").Raw(kOpenApiSecuritySchemes);
  json.EndObject().EndObject();
  return text;
}

}  // namespace nereid::codec::json
