// SPDX-License-Identifier: Apache-2.0
#include "codec/json/log_settings.h"

#include "base/json_writer.h"
#include "codec/json/cursor.h"

namespace nereid::codec::json {
namespace {

using base::Status;

Status ReadBool(Cursor& cursor, std::optional<bool>* setting) {
  bool value = false;
  if (!cursor.ReadBool(&value)) {
    NEREID_RETURN_IF_ERROR(cursor.SkipValue());
    return Status::Internal("attempt to access JSON non-boolean as boolean");
  }
  *setting = value;
  return Status::Ok();
}

Status ReadVerboseLevel(Cursor& cursor, api::LogChanges* changes) {
  uint64_t level = 0;
  if (!ReadUnsignedMember(cursor, "log_verbose_level", &level).ok() || level > UINT32_MAX) {
    return Status::Internal("attempt to access JSON non-unsigned-integer as unsigned-integer");
  }
  changes->verbose_level = static_cast<uint32_t>(level);
  return Status::Ok();
}

Status ReadFormat(Cursor& cursor, api::LogChanges* changes) {
  std::string name;
  if (!ReadStringMember(cursor, "log_format", &name).ok()) {
    return Status::Internal("attempt to access JSON non-string as string");
  }
  changes->format = api::FindLogFormat(name);
  if (changes->format) return Status::Ok();
  return Status::Unavailable("invalid argument for --log_format, got: " + name);
}

Status ReadSetting(Cursor& cursor, std::string_view key, api::LogChanges* changes) {
  if (cursor.Peek() == 'n') return cursor.SkipValue();
  if (key == "log_file") return api::LogFileIsFixed();
  if (key == "log_info") return ReadBool(cursor, &changes->info);
  if (key == "log_warning") return ReadBool(cursor, &changes->warning);
  if (key == "log_error") return ReadBool(cursor, &changes->error);
  if (key == "log_verbose_level") return ReadVerboseLevel(cursor, changes);
  if (key == "log_format") return ReadFormat(cursor, changes);
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
