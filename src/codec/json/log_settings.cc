// SPDX-License-Identifier: Apache-2.0
#include "codec/json/log_settings.h"

#include "base/json_writer.h"
#include "base/narrow.h"
#include "codec/json/cursor.h"

namespace nereid::codec::json {
namespace {

using base::Status;

Status ReadVerboseLevel(Cursor& cursor, std::string_view key, api::LogChanges* changes) {
  uint64_t level = 0;
  NEREID_RETURN_IF_ERROR(ReadUnsignedMember(cursor, key, &level));
  changes->verbose_level = base::Narrow<uint32_t>(level);
  if (changes->verbose_level) return Status::Ok();
  return base::OutOfRange("'" + std::string(key) + "'", std::to_string(level), "UINT32");
}

Status ReadFormat(Cursor& cursor, std::string_view key, api::LogChanges* changes) {
  std::string name;
  NEREID_RETURN_IF_ERROR(ReadStringMember(cursor, key, &name));
  changes->format = api::FindLogFormat(name);
  if (changes->format) return Status::Ok();
  return Status::InvalidArgument("invalid argument for --log_format, got: " + name);
}

Status ReadSetting(Cursor& cursor, std::string_view key, api::LogChanges* changes) {
  if (cursor.Peek() == 'n') return cursor.SkipValue();
  if (key == "log_file") return api::LogFileIsFixed();
  if (key == "log_info") return ReadBoolMember(cursor, key, &changes->info.emplace());
  if (key == "log_warning") return ReadBoolMember(cursor, key, &changes->warning.emplace());
  if (key == "log_error") return ReadBoolMember(cursor, key, &changes->error.emplace());
  if (key == "log_verbose_level") return ReadVerboseLevel(cursor, key, changes);
  if (key == "log_format") return ReadFormat(cursor, key, changes);
  return cursor.SkipValue();
}

}  // namespace

std::string EncodeLogSettings(const api::LogSettings& settings) {
  std::string text;
  base::JsonWriter json(&text);
  json.BeginObject().Key("log_file").String(settings.file);
  json.Key("log_info").Bool(settings.info).Key("log_warning").Bool(settings.warning);
  json.Key("log_error").Bool(settings.error);
  json.Key("log_verbose_level").Integer(settings.verbose_level);
  json.Key("log_format").String(api::LogFormatName(settings.format)).EndObject();
  return text;
}

base::Result<api::LogChanges> DecodeLogChanges(std::string_view json) {
  api::LogChanges changes;
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
