// SPDX-License-Identifier: Apache-2.0
#include "codec/json/repository_requests.h"

#include "codec/json/cursor.h"

namespace nereid::codec::json {
namespace {

using base::Status;

/// The maximum number of files, plus the configuration, in one load request.
constexpr size_t kMostLoadParameters = 16'384;

/// Calls `visit(cursor, key)` for the members of the document.
template <typename Visit>
Status ForEachRootMember(std::string_view json, Visit&& visit) {
  Cursor cursor(json);
  if (cursor.Peek() != '{') {
    NEREID_RETURN_IF_ERROR(cursor.SkipValue());
    NEREID_RETURN_IF_ERROR(cursor.ExpectEnd());
    return Status::Internal("attempt to get members for non-object");
  }
  NEREID_RETURN_IF_ERROR(
      cursor.ForEachMember([&](std::string_view key) { return visit(cursor, key); }));
  return cursor.ExpectEnd();
}

/// Calls `visit(cursor, name)` for the members of the document's "parameters".
template <typename Visit>
Status ForEachParameter(std::string_view json, Visit&& visit) {
  return ForEachRootMember(json, [&](Cursor& cursor, std::string_view key) -> Status {
    if (key != "parameters") return cursor.SkipValue();
    if (cursor.Peek() != '{') {
      NEREID_RETURN_IF_ERROR(cursor.SkipValue());
      return Status::Internal("attempt to get members for non-object");
    }
    return cursor.ForEachMember([&](std::string_view name) { return visit(cursor, name); });
  });
}

int Base64Digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

}  // namespace

base::Result<bool> DecodeIndexRequest(std::string_view json) {
  bool ready = false;
  if (json.empty()) return ready;
  NEREID_RETURN_IF_ERROR(
      ForEachRootMember(json, [&](Cursor& cursor, std::string_view key) -> Status {
        if (key != "ready") return cursor.SkipValue();
        return ReadBoolMember(cursor, key, &ready);
      }));
  return ready;
}

base::Result<std::vector<api::LoadParameter>> DecodeLoadRequest(std::string_view json) {
  std::vector<api::LoadParameter> parameters;
  if (json.empty()) return parameters;
  NEREID_RETURN_IF_ERROR(
      ForEachParameter(json, [&](Cursor& cursor, std::string_view name) -> Status {
        const bool is_file = name.substr(0, 5) == "file:";
        if (!is_file && name != "config") {
          return Status::Internal("unexpected error on creating Triton parameter");
        }
        if (parameters.size() == kMostLoadParameters) {
          return Status::InvalidArgument("a request to load a model can have at most " +
                                         std::to_string(kMostLoadParameters) + " parameters");
        }
        api::LoadParameter parameter{std::string(name), {}};
        if (cursor.Peek() != '"') {
          NEREID_RETURN_IF_ERROR(cursor.SkipValue());
          return Status::Internal("attempt to access JSON non-string as string");
        }
        NEREID_RETURN_IF_ERROR(ReadStringMember(cursor, name, &parameter.value));
        if (is_file) parameter.value = DecodeBase64(parameter.value);
        parameters.push_back(std::move(parameter));
        return Status::Ok();
      }));
  return parameters;
}

base::Result<bool> DecodeUnloadRequest(std::string_view json) {
  bool dependents = false;
  if (json.empty()) return dependents;
  NEREID_RETURN_IF_ERROR(
      ForEachParameter(json, [&](Cursor& cursor, std::string_view name) -> Status {
        cursor.Peek();
        if (name == "unload_dependents" && cursor.ReadBool(&dependents)) return Status::Ok();
        return cursor.SkipValue();
      }));
  return dependents;
}

std::string DecodeBase64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  uint32_t collected = 0;
  int bits = 0;
  for (const char c : text) {
    const int digit = Base64Digit(c);
    if (digit < 0) continue;
    collected = (collected << 6) | static_cast<uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>((collected >> bits) & 0xFF);
  }
  return bytes;
}

}  // namespace nereid::codec::json
