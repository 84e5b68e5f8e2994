// SPDX-License-Identifier: Apache-2.0
#include "codec/json/server_metadata.h"

#include "base/json_writer.h"
#include "codec/json/array_text.h"

namespace nereid::codec::json {

std::string EncodeServerMetadata(const api::ServerMetadata& metadata) {
  std::string text;
  base::JsonWriter json(&text);
  json.BeginObject().Key("name").String(metadata.name).Key("version").String(metadata.version);
  json.Key("extensions");
  WriteTextArray(metadata.extensions, &json);
  json.EndObject();
  return text;
}

}  // namespace nereid::codec::json
