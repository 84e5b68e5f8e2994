// SPDX-License-Identifier: Apache-2.0
#include "app/tools/infer/http_inference.h"

#include <algorithm>

#include "app/tools/infer/event_stream.h"
#include "app/tools/tensors/nested_values.h"
#include "base/json_writer.h"
#include "base/parse_number.h"
#include "base/percent_text.h"
#include "codec/json/number_text.h"

namespace nereid::app::tools {
namespace {

using base::JsonWriter;
using base::Status;

constexpr size_t kMaxReplyBytes = size_t{1} << 30;
constexpr char kHeaderLength[] = "Inference-Header-Content-Length";

std::string ModelPath(const std::string& model, const std::string& version) {
  return "/v2/models/" + base::PercentEncode(model) +
         (version.empty() ? "" : "/versions/" + version);
}

void WriteParameter(const ParameterValue& value, JsonWriter& json) {
  if (const auto* truth = std::get_if<bool>(&value)) {
    json.Bool(*truth);
  } else if (const auto* whole = std::get_if<int64_t>(&value)) {
    json.Integer(*whole);
  } else if (const auto* number = std::get_if<double>(&value)) {
    char text[codec::json::kNumberRoom];
    json.Raw({text, codec::json::WriteDouble(*number, text)});
  } else {
    json.String(std::get<std::string>(value));
  }
}

void WriteShape(const tensor::Shape& shape, JsonWriter& json) {
  json.BeginArray();
  for (const int64_t dim : shape) json.Integer(dim);
  json.EndArray();
}

void WriteInput(const Tensor& input, bool binary, JsonWriter& json) {
  json.BeginObject().Key("name").String(input.name);
  json.Key("datatype").String(tensor::DataTypeName(input.type)).Key("shape");
  WriteShape(input.shape, json);
  if (binary) {
    json.Key("parameters").BeginObject().Key("binary_data_size").Integer(input.bytes.size());
    json.EndObject();
  } else {
    json.Key("data");
    WriteFlatValues(input, &json);
  }
  json.EndObject();
}

void WriteOutput(const std::string& name, const InferCall& call, bool binary, JsonWriter& json) {
  json.BeginObject().Key("name").String(name).Key("parameters").BeginObject();
  json.Key("binary_data").Bool(binary);
  if (call.classes > 0) json.Key("classification").Integer(call.classes);
  json.EndObject().EndObject();
}

std::string InferJson(const InferCall& call, bool binary) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  if (!call.id.empty()) json.Key("id").String(call.id);
  json.Key("parameters").BeginObject().Key("binary_data_output").Bool(binary);
  for (const auto& [name, value] : call.parameters) {
    json.Key(name);
    WriteParameter(value, json);
  }
  json.EndObject().Key("inputs").BeginArray();
  for (const Tensor& input : call.inputs) WriteInput(input, binary, json);
  json.EndArray();
  if (!call.outputs.empty()) {
    json.Key("outputs").BeginArray();
    for (const std::string& name : call.outputs) WriteOutput(name, call, binary, json);
    json.EndArray();
  }
  json.EndObject();
  return text;
}

/// The generate extension takes flat lists, and a scalar for one element.
base::Result<std::string> GenerateJson(const InferCall& call) {
  if (call.classes > 0) {
    return Status::InvalidArgument("the responses of a decoupled model have no classification");
  }
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  if (!call.id.empty()) json.Key("id").String(call.id);
  for (const Tensor& input : call.inputs) {
    json.Key(input.name);
    WriteFlatValues(input, &json);
  }
  if (!call.parameters.empty()) {
    json.Key("parameters").BeginObject();
    for (const auto& [name, value] : call.parameters) {
      json.Key(name);
      WriteParameter(value, json);
    }
    json.EndObject();
  }
  json.EndObject();
  return text;
}

}  // namespace

base::Result<ModelDescription> HttpInference::Describe(const std::string& model,
                                                       const std::string& version) {
  NEREID_ASSIGN_OR_RETURN(const auto metadata, server_->Get(ModelPath(model, version)));
  if (!metadata.ok()) return RefusalOf(metadata);
  ModelDescription description;
  NEREID_RETURN_IF_ERROR(DecodeModelMetadata(metadata.body, &description));
  // The name is part of paths, so it stays the one that the user gave.
  description.name = model;
  const auto config = server_->Get(ModelPath(model, version) + "/config");
  if (config.ok() && config->ok()) {
    // A server of another kind may have another document there.
    (void)DecodeModelConfig(config->body, &description);
  }
  const auto server = server_->Get("/v2");
  if (!server.ok() || !server->ok()) return description;
  const auto described = DecodeServer(server->body);
  description.has_binary_data =
      !described.ok() || std::find(described->extensions.begin(), described->extensions.end(),
                                   "binary_tensor_data") != described->extensions.end();
  return description;
}

base::Result<EncodedCall> HttpInference::Encode(const InferCall& call,
                                                const ModelDescription& model) const {
  EncodedCall encoded{ModelPath(call.model, call.version), "", 0};
  if (model.decoupled) {
    encoded.path += "/generate_stream";
    NEREID_ASSIGN_OR_RETURN(encoded.body, GenerateJson(call));
    return encoded;
  }
  encoded.path += "/infer";
  encoded.body = InferJson(call, model.has_binary_data);
  if (!model.has_binary_data) return encoded;
  encoded.json_size = encoded.body.size();
  for (const Tensor& input : call.inputs) encoded.body += input.bytes;
  return encoded;
}

base::Result<InferReply> HttpInference::Infer(const EncodedCall& call) {
  RemoteServer::Call request{"POST", call.path, call.body, {}, kMaxReplyBytes, /*stall_secs=*/0};
  if (call.json_size != 0) {
    request.fields = {{kHeaderLength, std::to_string(call.json_size)},
                      {"Content-Type", "application/octet-stream"}};
  }
  NEREID_ASSIGN_OR_RETURN(const curl::HttpResponse response, server_->Exchange(std::move(request)));
  if (response.status != 200) return RefusalOf(response.status, response.body);
  const std::string_view header = response.field(kHeaderLength);
  const auto json_size =
      header.empty() ? response.body.size() : base::ParseWhole<size_t>(header).value_or(SIZE_MAX);
  return DecodeInferReply(response.body, json_size);
}

Status HttpInference::Stream(const EncodedCall& call, const ModelDescription& model,
                             const std::function<bool(InferReply)>& receive) {
  EventStream events;
  bool stopped = false;
  curl::HttpReceiver receiver;
  receiver.body = [&](std::string_view piece) -> Status {
    return events.Take(piece, [&](std::string_view data) -> Status {
      NEREID_ASSIGN_OR_RETURN(InferReply reply, DecodeGenerateEvent(data, model));
      if (!receive(std::move(reply))) stopped = true;
      return stopped ? Status::Cancelled("stopped") : Status();
    });
  };
  const auto response = server_->Exchange(
      {"POST", call.path, call.body, {}, kMaxReplyBytes, /*stall_secs=*/0}, receiver);
  if (stopped) return {};
  if (!response.ok()) return response.status();
  return response->status == 200 ? Status() : RefusalOf(response->status, response->body);
}

base::Result<std::vector<ModelCounters>> HttpInference::Statistics(const std::string& model) {
  const std::string path = model.empty() ? "/v2/models/stats" : ModelPath(model, "") + "/stats";
  NEREID_ASSIGN_OR_RETURN(const auto reply, server_->Get(path));
  if (!reply.ok()) return RefusalOf(reply);
  return DecodeCounters(reply.body);
}

}  // namespace nereid::app::tools
