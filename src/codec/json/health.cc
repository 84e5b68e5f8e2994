// SPDX-License-Identifier: Apache-2.0
#include "codec/json/health.h"

#include "base/json_writer.h"
#include "codec/json/array_text.h"
#include "codec/json/cursor.h"
#include "codec/json/repository_members.h"

namespace nereid::codec::json {
namespace {

using base::JsonWriter;
using base::Status;

constexpr uint64_t kSecondNs = 1'000'000'000;

/// Writes a member whose text may come from files and plug-ins; an empty one is left out.
void WriteText(std::string_view key, const std::string& text, JsonWriter* json) {
  if (!text.empty()) json->Key(key).String(text);
}

void WriteReason(const api::UnreadyReason& reason, JsonWriter* json) {
  json->BeginObject();
  json->Key("cause").String(reason.cause);
  WriteText("model", reason.model, json);
  WriteText("version", reason.version, json);
  WriteText("state", reason.state, json);
  WriteText("text", reason.text, json);
  json->EndObject();
}

void WriteFinding(const api::LivenessFinding& finding, JsonWriter* json) {
  json->BeginObject();
  json->Key("cause").String(finding.cause);
  WriteText("stage", finding.stage, json);
  WriteText("name", finding.name, json);
  if (!finding.stage.empty()) json->Key("seconds").Integer(finding.seconds);
  WriteText("text", finding.text, json);
  json->EndObject();
}

void WriteBusyVersion(const api::BusyVersion& busy, JsonWriter* json) {
  json->BeginObject();
  WriteText("model", busy.model, json);
  WriteText("version", busy.version, json);
  json->Key("in_flight").Integer(busy.in_flight).EndObject();
}

Status ReadSeconds(Cursor& cursor, api::DrainChange* change) {
  uint64_t seconds = 0;
  NEREID_RETURN_IF_ERROR(ReadUnsignedMember(cursor, "seconds", &seconds));
  if (seconds == 0 || seconds > UINT32_MAX) {
    return Status::InvalidArgument("'seconds' of a drain must be 1 to 4294967295. Got " +
                                   std::to_string(seconds) +
                                   ". Leave it out for a drain that lasts until it is ended.");
  }
  change->seconds = static_cast<uint32_t>(seconds);
  return Status::Ok();
}

}  // namespace

std::string EncodeReadiness(const api::Readiness& readiness) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("ready").Bool(readiness.ready).Key("reasons");
  WriteArray(readiness.reasons, &json, WriteReason);
  json.Key("omitted").Integer(readiness.omitted);
  if (!readiness.notes.empty()) {
    json.Key("notes");
    WriteArray(readiness.notes, &json, WriteReason);
  }
  json.EndObject();
  return text;
}

std::string EncodeLiveness(const api::Liveness& liveness) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("live").Bool(liveness.live).Key("reasons");
  WriteArray(liveness.findings, &json, WriteFinding);
  json.Key("omitted").Integer(liveness.omitted).EndObject();
  return text;
}

std::string EncodeDrain(const api::DrainReport& report) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("draining").Bool(report.draining);
  // Rounded up: a drain that has not ended lasts for a second at least.
  if (report.left_ns) {
    json.Key("seconds_left").Integer((*report.left_ns + kSecondNs - 1) / kSecondNs);
  }
  json.Key("in_flight").Integer(report.in_flight).Key("busy");
  WriteArray(report.busy, &json, WriteBusyVersion);
  json.Key("omitted").Integer(report.omitted).EndObject();
  return text;
}

base::Result<api::DrainChange> DecodeDrainChange(std::string_view json) {
  api::DrainChange change;
  if (json.empty()) return change;
  NEREID_RETURN_IF_ERROR(
      ForEachRootMember(json, [&](Cursor& cursor, std::string_view key) -> Status {
        if (key == "drain") return ReadBoolMember(cursor, key, &change.drain);
        if (key == "seconds") return ReadSeconds(cursor, &change);
        return Status::InvalidArgument("unknown member '" + std::string(key) +
                                       "' of a drain, expected 'drain' or 'seconds'");
      }));
  return change;
}

}  // namespace nereid::codec::json
