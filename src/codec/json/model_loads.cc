// SPDX-License-Identifier: Apache-2.0
#include "codec/json/model_loads.h"

#include "base/json_writer.h"

namespace nereid::codec::json {
namespace {

using base::JsonWriter;

void WriteCurrent(const api::ModelLoads::Current& current, JsonWriter* json) {
  json->Key("elapsed_ms").Integer(current.elapsed_ms);
  if (!current.progress.empty()) {
    json->Key("progress").String(current.progress);
  }
  if (current.versions == 0) return;
  json->Key("version").Integer(current.version).Key("attempt").Integer(current.attempt);
  json->Key("versions_done").Integer(current.versions_done);
  json->Key("versions").Integer(current.versions);
}

void WriteLast(const api::ModelLoads::Last& last, JsonWriter* json) {
  json->Key("last").BeginObject().Key("result").String(last.error.empty() ? "loaded" : "failed");
  if (!last.error.empty()) json->Key("error").String(last.error);
  json->Key("duration_ms").Integer(last.duration_ms);
  json->Key("unix_ms").Integer(last.wall_ms).EndObject();
}

}  // namespace

std::string EncodeModelLoads(const api::ModelLoads& loads) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("model").String(loads.model);
  json.Key("state").String(loads.current ? loads.current->stage : "idle");
  json.Key("waiting").Integer(loads.waiting);
  if (loads.current) WriteCurrent(*loads.current, &json);
  if (loads.last) WriteLast(*loads.last, &json);
  json.Key("succeeded").Integer(loads.successes).Key("failed").Integer(loads.failures);
  json.EndObject();
  return text;
}

}  // namespace nereid::codec::json
