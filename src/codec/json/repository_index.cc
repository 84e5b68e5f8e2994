// SPDX-License-Identifier: Apache-2.0
#include "codec/json/repository_index.h"

#include "base/json_writer.h"
#include "codec/json/array_text.h"
#include "codec/json/cursor.h"
#include "codec/json/repository_members.h"

namespace nereid::codec::json {
namespace {

using base::JsonWriter;
using base::Status;

void WriteIndexEntry(const api::RepositoryIndexEntry& entry, JsonWriter* json) {
  json->BeginObject().Key("name").String(entry.name);
  const auto optional = [json](std::string_view key, const std::string& value) {
    if (!value.empty()) json->Key(key).String(value);
  };
  optional("version", entry.version);
  optional("state", entry.state);
  optional("reason", entry.reason);
  json->EndObject();
}

}  // namespace

base::Result<bool> DecodeRepositoryIndexRequest(std::string_view json) {
  bool ready = false;
  if (json.empty()) return ready;
  NEREID_RETURN_IF_ERROR(
      ForEachRootMember(json, [&](Cursor& cursor, std::string_view key) -> Status {
        if (key != "ready") return cursor.SkipValue();
        return ReadBoolMember(cursor, key, &ready);
      }));
  return ready;
}

std::string EncodeRepositoryIndex(const std::vector<api::RepositoryIndexEntry>& entries) {
  std::string text;
  JsonWriter json(&text);
  WriteArray(entries, &json, WriteIndexEntry);
  return text;
}

}  // namespace nereid::codec::json
