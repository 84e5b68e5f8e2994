// SPDX-License-Identifier: Apache-2.0
#include "codec/json/trace_settings.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "codec/json/cursor.h"

namespace nereid::codec::json {
namespace {

using base::Status;

constexpr size_t kMaxLevels = 64;

Status ReadLevel(Cursor& cursor, std::string_view key, api::TraceChanges* changes) {
  if (cursor.Peek() != '[') {
    NEREID_RETURN_IF_ERROR(cursor.SkipValue());
    return WrongType(key, "array", "array");
  }
  std::vector<std::string> names;
  NEREID_RETURN_IF_ERROR(cursor.ForEachElement([&]() -> Status {
    if (names.size() == kMaxLevels) {
      return Status::InvalidArgument("'trace_level' has more than " + std::to_string(kMaxLevels) +
                                     " entries");
    }
    return ReadStringMember(cursor, key, &names.emplace_back());
  }));
  return names.empty() ? Status::Ok() : changes->SetLevel(names);
}

Status ReadSetting(Cursor& cursor, std::string_view key, api::TraceChanges* changes) {
  if (key == "trace_file") return api::TraceFileIsFixed();
  const bool is_level = key == "trace_level";
  if (!is_level && key != "trace_rate" && key != "trace_count" && key != "log_frequency") {
    return cursor.SkipValue();
  }
  if (cursor.Peek() == 'n') {
    NEREID_RETURN_IF_ERROR(cursor.SkipValue());
    if (!is_level) return changes->SetNumber(key, std::nullopt);
    changes->level = std::optional<uint32_t>();
    return {};
  }
  if (is_level) return ReadLevel(cursor, key, changes);
  std::string text;
  const std::string name(key);
  NEREID_RETURN_IF_ERROR(ReadStringMember(cursor, key, &text));
  return changes->SetNumber(name, text);
}

/// Adds the options of the mode. The values of an option that occurs several times become one list
/// with commas, because a JSON object should not have a name twice.
void AddOptions(const api::TraceSettings& settings, base::JsonWriter* json) {
  std::map<std::string_view, std::string> lists;
  for (const auto& [name, value] : settings.options) {
    std::string& list = lists[name];
    if (!list.empty()) list += ',';
    list += value;
  }
  for (const auto& [name, list] : lists) json->Key(name).String(list);
}

}  // namespace

std::string EncodeTraceSettings(const api::TraceSettings& settings) {
  std::string text;
  base::JsonWriter json(&text);
  json.BeginObject().Key("trace_level").BeginArray();
  for (const std::string_view name : api::TraceLevelNames(settings.level)) json.String(name);
  json.EndArray().Key("trace_rate").String(std::to_string(settings.rate));
  json.Key("trace_count").String(std::to_string(settings.count));
  if (settings.mode == api::TraceMode::kTriton) {
    json.Key("log_frequency").String(std::to_string(settings.log_frequency));
    json.Key("trace_file").String(settings.file);
  }
  json.Key("trace_mode").String(api::TraceModeName(settings.mode));
  AddOptions(settings, &json);
  json.EndObject();
  return text;
}

base::Result<api::TraceChanges> DecodeTraceChanges(std::string_view json) {
  api::TraceChanges changes;
  Cursor cursor(json);
  const char first = cursor.Peek();
  if (first == '\0') return cursor.SyntaxError("The document is empty.");
  if (first != '{') {
    NEREID_RETURN_IF_ERROR(cursor.SkipValue());
  } else {
    NEREID_RETURN_IF_ERROR(cursor.ForEachMember(
        [&](std::string_view key) { return ReadSetting(cursor, key, &changes); }));
  }
  NEREID_RETURN_IF_ERROR(cursor.ExpectEnd());
  return changes;
}

}  // namespace nereid::codec::json
