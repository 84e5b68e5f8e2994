// SPDX-License-Identifier: Apache-2.0
#include "codec/json/model_metadata.h"

#include "base/json_writer.h"
#include "codec/json/array_text.h"

namespace nereid::codec::json {
namespace {

using base::JsonWriter;

void WriteTensor(const api::TensorMetadata& tensor, JsonWriter* json) {
  json->BeginObject().Key("name").String(tensor.name).Key("datatype").String(tensor.datatype);
  json->Key("shape");
  WriteArray(tensor.shape, json, [](int64_t dim, JsonWriter* out) { out->Integer(dim); });
  json->EndObject();
}

}  // namespace

std::string EncodeModelMetadata(const api::ModelMetadata& metadata) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("name").String(metadata.name).Key("versions");
  WriteTextArray(metadata.versions, &json);
  json.Key("platform").String(metadata.platform).Key("inputs");
  WriteArray(metadata.inputs, &json, WriteTensor);
  json.Key("outputs");
  WriteArray(metadata.outputs, &json, WriteTensor);
  json.EndObject();
  return text;
}

}  // namespace nereid::codec::json
