// SPDX-License-Identifier: Apache-2.0
#include "codec/json/rollout.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "base/json_writer.h"
#include "codec/json/array_text.h"
#include "codec/json/cursor.h"

namespace nereid::codec::json {
namespace {

using base::JsonWriter;
using base::Status;
using rollout::RolloutPlan;
using rollout::WrongField;

constexpr std::string_view kRedirect = "redirect";
constexpr std::string_view kKeep = "keep";
constexpr std::string_view kEnd = "end";
constexpr std::string_view kFinish = "finish";

/// Returns what stands at the cursor, for an error.
std::string_view KindAt(Cursor& cursor) {
  switch (cursor.Peek()) {
    case '{':
      return "an object";
    case '[':
      return "an array";
    case '"':
      return "a string";
    case 't':
    case 'f':
      return "a boolean";
    case 'n':
      return "null";
    default:
      return "a number";
  }
}

/// Skips the value at the cursor and returns the error for it, or a syntax error in it.
Status Wrong(Cursor& cursor, std::string_view field, std::string_view expected) {
  const std::string_view kind = KindAt(cursor);
  NEREID_RETURN_IF_ERROR(cursor.SkipValue());
  return WrongField(field, kind, expected);
}

std::string Path(std::string_view parent, std::string_view name) {
  constexpr size_t kMaxShown = 80;  // a name is the client's
  std::string path(parent);
  if (!path.empty()) path += '.';
  return path.append(name.substr(0, kMaxShown));
}

Status UnknownField(Cursor& cursor, std::string_view field, std::string_view expected) {
  NEREID_RETURN_IF_ERROR(cursor.SkipValue());
  return WrongField(field, "unknown", "one of " + std::string(expected));
}

/// Calls `visit(name, field)` for each member of the object at the cursor.
template <typename Visit>
Status ForEachField(Cursor& cursor, std::string_view parent, const Visit& visit) {
  if (cursor.Peek() != '{') return Wrong(cursor, parent.empty() ? "rollout" : parent, "an object");
  return cursor.ForEachMember([&](std::string_view name) {
    // A copy, because the view ends with the next read.
    return visit(std::string(name), Path(parent, name));
  });
}

Status ReadNumber(Cursor& cursor, std::string_view field, Number* number) {
  const char c = cursor.Peek();
  if ((c < '0' || c > '9') && c != '-') return Wrong(cursor, field, "a number");
  return cursor.ReadNumberValue(number);
}

Status ReadUnsigned(Cursor& cursor, std::string_view field, uint64_t* value) {
  Number number;
  NEREID_RETURN_IF_ERROR(ReadNumber(cursor, field, &number));
  if (number.kind == Number::Kind::kUnsigned) {
    *value = number.u;
    return Status::Ok();
  }
  const std::string found =
      number.kind == Number::Kind::kNegative ? std::to_string(number.i) : std::to_string(number.d);
  return WrongField(field, found, "a whole number that is at least 0");
}

/// Larger numbers are beyond every range, so they are read as the largest one.
Status ReadSmall(Cursor& cursor, std::string_view field, uint32_t* value) {
  uint64_t read = 0;
  NEREID_RETURN_IF_ERROR(ReadUnsigned(cursor, field, &read));
  *value = static_cast<uint32_t>(std::min<uint64_t>(read, std::numeric_limits<uint32_t>::max()));
  return Status::Ok();
}

Status ReadText(Cursor& cursor, std::string_view field, std::string* value) {
  if (cursor.Peek() != '"') return Wrong(cursor, field, "a string");
  return ReadStringMember(cursor, field, value);
}

Status ReadTarget(Cursor& cursor, std::string_view field, rollout::Target* target) {
  if (cursor.Peek() == '"') return ReadText(cursor, field, &target->text);
  uint64_t number = 0;
  NEREID_RETURN_IF_ERROR(ReadUnsigned(cursor, field, &number));
  target->text = std::to_string(number);
  return Status::Ok();
}

/// Reads one of two words; `value` becomes whether it is the first one.
Status ReadWord(Cursor& cursor, std::string_view field, std::string_view yes, std::string_view no,
                bool* value) {
  std::string text;
  NEREID_RETURN_IF_ERROR(ReadText(cursor, field, &text));
  if (text != yes && text != no) {
    return WrongField(field, "'" + text.substr(0, 80) + "'",
                      "'" + std::string(yes) + "' or '" + std::string(no) + "'");
  }
  *value = text == yes;
  return Status::Ok();
}

Status ReadLabels(Cursor& cursor, std::string_view field, RolloutPlan* plan) {
  return ForEachField(cursor, field, [&](std::string name, const std::string& path) -> Status {
    uint64_t version = 0;
    NEREID_RETURN_IF_ERROR(ReadUnsigned(cursor, path, &version));
    if (version > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return WrongField(path, std::to_string(version), "a version number");
    }
    plan->labels.emplace_back(std::move(name), static_cast<int64_t>(version));
    return Status::Ok();
  });
}

Status ReadSplit(Cursor& cursor, std::string_view field, rollout::Split* split) {
  return ForEachField(cursor, field, [&](const std::string& name, const std::string& path) {
    if (name == "key") {
      std::string text;
      NEREID_RETURN_IF_ERROR(ReadText(cursor, path, &text));
      if (rollout::ParseSplitKey(text, split)) return Status::Ok();
      return WrongField(path, "'" + text.substr(0, 80) + "'",
                        "'request', 'sequence', 'parameter:<name>' or 'header:<name>'");
    }
    if (name != "weights") return UnknownField(cursor, path, "key, weights");
    return ForEachField(cursor, path, [&](std::string target, const std::string& weight_path) {
      rollout::Weight& weight = split->weights.emplace_back();
      weight.target.text = std::move(target);
      return ReadSmall(cursor, weight_path, &weight.parts);
    });
  });
}

Status ReadTolerance(Cursor& cursor, std::string_view field, rollout::Tolerance* tolerance) {
  return ForEachField(cursor, field, [&](const std::string& name, const std::string& path) {
    if (name != "absolute" && name != "relative") {
      return UnknownField(cursor, path, "absolute, relative");
    }
    Number number;
    NEREID_RETURN_IF_ERROR(ReadNumber(cursor, path, &number));
    (name == "absolute" ? tolerance->absolute : tolerance->relative) = number.AsDouble();
    return Status::Ok();
  });
}

Status ReadShadow(Cursor& cursor, std::string_view field, rollout::Shadow* shadow) {
  return ForEachField(cursor, field, [&](const std::string& name, const std::string& path) {
    if (name == "version") return ReadTarget(cursor, path, &shadow->target);
    if (name == "parts") return ReadSmall(cursor, path, &shadow->parts);
    if (name == "max_in_flight") return ReadSmall(cursor, path, &shadow->max_in_flight);
    if (name != "tolerances") {
      return UnknownField(cursor, path, "version, parts, max_in_flight, tolerances");
    }
    return ForEachField(cursor, path, [&](const std::string& type_name, const std::string& at) {
      const tensor::DataType type = tensor::DataTypeFromName(type_name);
      if (type == tensor::DataType::kInvalid) {
        return UnknownField(cursor, at, "the data types, such as FP32");
      }
      return ReadTolerance(cursor, at, &shadow->tolerances[type]);
    });
  });
}

Status ReadRollback(Cursor& cursor, std::string_view field, rollout::Rollback* rule) {
  return ForEachField(cursor, field, [&](const std::string& name, const std::string& path) {
    if (name == "version") return ReadTarget(cursor, path, &rule->target);
    if (name == "window_seconds") return ReadSmall(cursor, path, &rule->window_seconds);
    if (name == "min_requests") return ReadSmall(cursor, path, &rule->min_requests);
    if (name == "max_error_parts") {
      return ReadSmall(cursor, path, &rule->max_error_parts.emplace());
    }
    if (name == "max_latency_us") {
      return ReadUnsigned(cursor, path, &rule->max_latency_us.emplace());
    }
    if (name == "latency_parts") return ReadSmall(cursor, path, &rule->latency_parts);
    if (name == "labels") {
      return ReadWord(cursor, path, kRedirect, kKeep, &rule->redirects_labels);
    }
    if (name == "open_sequences") {
      return ReadWord(cursor, path, kEnd, kFinish, &rule->ends_sequences);
    }
    if (name == "count_invalid_requests") {
      cursor.Peek();
      if (cursor.ReadBool(&rule->counts_invalid)) return Status::Ok();
      return Wrong(cursor, path, "true or false");
    }
    return UnknownField(cursor, path,
                        "version, window_seconds, min_requests, max_error_parts, max_latency_us, "
                        "latency_parts, labels, open_sequences, count_invalid_requests");
  });
}

Status ReadPlan(Cursor& cursor, RolloutPlan* plan) {
  return ForEachField(cursor, "", [&](const std::string& name, const std::string& path) {
    if (name == "labels") return ReadLabels(cursor, path, plan);
    if (name == "split") return ReadSplit(cursor, path, &plan->split.emplace());
    if (name == "shadow") return ReadShadow(cursor, path, &plan->shadow.emplace());
    if (name == "rollback") return ReadRollback(cursor, path, &plan->rollback.emplace());
    return UnknownField(cursor, path, "labels, split, shadow, rollback");
  });
}

void WriteNumber(double value, JsonWriter* json) {
  char text[kNumberRoom];
  json->Raw({text, WriteDouble(value, text)});
}

void WritePlan(const RolloutPlan& plan, JsonWriter* json) {
  json->BeginObject();
  if (!plan.labels.empty()) {
    json->Key("labels").BeginObject();
    for (const auto& [name, version] : plan.labels) json->Key(name).Integer(version);
    json->EndObject();
  }
  if (plan.split) {
    json->Key("split").BeginObject().Key("key").String(rollout::SplitKeyText(*plan.split));
    json->Key("weights").BeginObject();
    for (const rollout::Weight& weight : plan.split->weights) {
      json->Key(weight.target.text).Integer(weight.parts);
    }
    json->EndObject().EndObject();
  }
  if (plan.shadow) {
    json->Key("shadow").BeginObject().Key("version").String(plan.shadow->target.text);
    json->Key("parts").Integer(plan.shadow->parts);
    json->Key("max_in_flight").Integer(plan.shadow->max_in_flight);
    json->Key("tolerances").BeginObject();
    for (const auto& [type, tolerance] : plan.shadow->tolerances) {
      json->Key(tensor::DataTypeName(type)).BeginObject().Key("absolute");
      WriteNumber(tolerance.absolute, json);
      json->Key("relative");
      WriteNumber(tolerance.relative, json);
      json->EndObject();
    }
    json->EndObject().EndObject();
  }
  if (plan.rollback) {
    const rollout::Rollback& rule = *plan.rollback;
    json->Key("rollback").BeginObject().Key("version").String(rule.target.text);
    json->Key("window_seconds").Integer(rule.window_seconds);
    json->Key("min_requests").Integer(rule.min_requests);
    if (rule.max_error_parts) json->Key("max_error_parts").Integer(*rule.max_error_parts);
    if (rule.max_latency_us) json->Key("max_latency_us").Integer(*rule.max_latency_us);
    json->Key("latency_parts").Integer(rule.latency_parts);
    json->Key("labels").String(rule.redirects_labels ? kRedirect : kKeep);
    json->Key("open_sequences").String(rule.ends_sequences ? kEnd : kFinish);
    json->Key("count_invalid_requests").Bool(rule.counts_invalid).EndObject();
  }
  json->EndObject();
}

void WriteOptional(std::string_view key, const std::optional<uint64_t>& value, JsonWriter* json) {
  json->Key(key);
  if (value) {
    json->Integer(*value);
  } else {
    json->Null();
  }
}

void WriteVersion(const rollout::VersionStatus& version, JsonWriter* json) {
  json->BeginObject().Key("version").Integer(version.version);
  json->Key("ready").Bool(version.ready).Key("parts").Integer(version.parts);
  json->Key("requests").Integer(version.requests).Key("failures").Integer(version.failures);
  WriteOptional("p50_us", version.p50_us, json);
  WriteOptional("p99_us", version.p99_us, json);
  json->EndObject();
}

void WriteShadow(const rollout::RolloutStatus& status, JsonWriter* json) {
  json->Key("shadow").BeginObject().Key("equal").Integer(status.shadow.equal);
  json->Key("different").Integer(status.shadow.different);
  json->Key("failed").Integer(status.shadow.failed);
  json->Key("dropped").Integer(status.shadow.dropped);
  json->Key("in_flight").Integer(status.shadow.in_flight);
  json->Key("first_difference").String(status.first_difference).EndObject();
}

}  // namespace

base::Result<RolloutPlan> DecodeRolloutPlan(std::string_view json) {
  Cursor cursor(json);
  RolloutPlan plan;
  Status status = ReadPlan(cursor, &plan);
  if (status.ok()) status = cursor.ExpectEnd();
  if (status.ok()) return plan;
  // A syntax error is INTERNAL where Triton's texts are; here the document is the client's fault.
  return Status::InvalidArgument(status.message());
}

std::string EncodeRolloutStatus(const rollout::RolloutStatus& status) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("model").String(status.model);
  json.Key("state").String(status.rollback ? "rolled_back" : "active");
  json.Key("plan");
  WritePlan(status.plan, &json);
  json.Key("versions");
  WriteArray(status.versions, &json, WriteVersion);
  if (status.plan.shadow) WriteShadow(status, &json);
  if (status.rollback) {
    json.Key("rollback").BeginObject().Key("version").Integer(status.rollback->version);
    json.Key("reason").String(status.rollback->reason);
    json.Key("unix_ms").Integer(status.rollback->wall_ms).EndObject();
  }
  json.Key("rollbacks").Integer(status.rollbacks).EndObject();
  return text;
}

}  // namespace nereid::codec::json
