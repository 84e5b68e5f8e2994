// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and writes the JSON messages between server and backend with RapidJSON (header-only), which
// stays inside the plug-in that includes this header.

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nereid/backend/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {

/// Returns the member `name` of an object; null if `object` is null, is not an object or has no
/// such member.
inline const rapidjson::Value* Member(const rapidjson::Value* object, const char* name) {
  if (object == nullptr || !object->IsObject()) {
    return nullptr;
  }
  const auto found = object->FindMember(name);
  return found == object->MemberEnd() ? nullptr : &found->value;
}

/// Returns the number of elements of an array or of members of an object, otherwise 0.
inline size_t MemberCount(const rapidjson::Value* value) {
  if (value == nullptr) {
    return 0;
  }
  return value->IsArray() ? value->Size() : value->IsObject() ? value->MemberCount() : 0;
}

/// Returns a string; an empty one if `value` is null or not a string.
inline std::string TextOf(const rapidjson::Value* value) {
  return value != nullptr && value->IsString()
             ? std::string(value->GetString(), value->GetStringLength())
             : std::string();
}

/// Returns a boolean; false if `value` is null or not a boolean.
inline bool BoolOf(const rapidjson::Value* value) {
  return value != nullptr && value->IsBool() && value->GetBool();
}

/// Returns an integer; `otherwise` if it is missing or is not one. 64-bit integers may be JSON
/// numbers or strings.
inline int64_t IntOf(const rapidjson::Value* value, int64_t otherwise = 0) {
  if (value == nullptr) {
    return otherwise;
  }
  if (value->IsInt64()) {
    return value->GetInt64();
  }
  if (!value->IsString()) {
    return otherwise;
  }
  int64_t number = 0;
  const char* const end = value->GetString() + value->GetStringLength();
  const auto [rest, failure] = std::from_chars(value->GetString(), end, number);
  return failure == std::errc() && rest == end ? number : otherwise;
}

/// Returns the integers in an array; none if `value` is null or not an array.
inline std::vector<int64_t> IntsOf(const rapidjson::Value* value) {
  std::vector<int64_t> numbers;
  if (value != nullptr && value->IsArray()) {
    for (const rapidjson::Value& element : value->GetArray()) {
      numbers.push_back(IntOf(&element));
    }
  }
  return numbers;
}

/// Parses the content of a message, which still belongs to its owner.
inline Error ParseMessage(TRITONSERVER_Message* message, rapidjson::Document* document) {
  const char* text = nullptr;
  size_t size = 0;
  NEREID_BACKEND_TRY(TRITONSERVER_MessageSerializeToJson(message, &text, &size));
  document->Parse(text, size);
  if (document->HasParseError() || !document->IsObject()) {
    return Error::Internal("the server sent a message that is no JSON object");
  }
  return {};
}

/// Reads the current configuration of `model` from the server.
inline Error ReadConfigDocument(TRITONBACKEND_Model* model, rapidjson::Document* document) {
  TRITONSERVER_Message* message = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelConfig(model, 1, &message));
  Error parsed = Catching([&] { return ParseMessage(message, document); });
  Error deleted(TRITONSERVER_MessageDelete(message));
  return parsed;
}

/// Sends a completed configuration to the server. Allowed only while the model is being
/// initialized.
inline Error WriteConfigDocument(TRITONBACKEND_Model* model, const rapidjson::Document& document) {
  rapidjson::StringBuffer text;
  rapidjson::Writer<rapidjson::StringBuffer> writer(text);
  document.Accept(writer);
  TRITONSERVER_Message* message = nullptr;
  NEREID_BACKEND_TRY(
      TRITONSERVER_MessageNewFromSerializedJson(&message, text.GetString(), text.GetSize()));
  Error set(TRITONBACKEND_ModelSetConfig(model, 1, message));
  Error deleted(TRITONSERVER_MessageDelete(message));
  return set;
}

}  // namespace nereid::backend
