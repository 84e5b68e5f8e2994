// SPDX-License-Identifier: Apache-2.0
#pragma once

// The messages that the server hands to a backend are JSON. This header reads them with RapidJSON
// (header-only), which stays inside the plug-in that includes it.

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

/// The member `name` of an object; null where `object` is null or no object, or lacks it.
inline const rapidjson::Value* Member(const rapidjson::Value* object, const char* name) {
  if (object == nullptr || !object->IsObject()) {
    return nullptr;
  }
  const auto found = object->FindMember(name);
  return found == object->MemberEnd() ? nullptr : &found->value;
}

/// The elements of an array, the members of an object, or 0.
inline size_t MemberCount(const rapidjson::Value* value) {
  if (value == nullptr) {
    return 0;
  }
  return value->IsArray() ? value->Size() : value->IsObject() ? value->MemberCount() : 0;
}

inline std::string TextOf(const rapidjson::Value* value) {
  return value != nullptr && value->IsString()
             ? std::string(value->GetString(), value->GetStringLength())
             : std::string();
}

inline bool BoolOf(const rapidjson::Value* value) {
  return value != nullptr && value->IsBool() && value->GetBool();
}

/// 64-bit integers are written as numbers or as text.
inline int64_t IntOf(const rapidjson::Value* value, int64_t otherwise = 0) {
  if (value == nullptr) {
    return otherwise;
  }
  if (value->IsInt64()) {
    return value->GetInt64();
  }
  int64_t number = otherwise;
  if (value->IsString()) {
    const char* text = value->GetString();
    std::from_chars(text, text + value->GetStringLength(), number);
  }
  return number;
}

inline std::vector<int64_t> IntsOf(const rapidjson::Value* value) {
  std::vector<int64_t> numbers;
  if (value != nullptr && value->IsArray()) {
    for (const rapidjson::Value& element : value->GetArray()) {
      numbers.push_back(IntOf(&element));
    }
  }
  return numbers;
}

/// Parses the content of a message that stays with its owner.
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

/// Reads the configuration of `model` as the server holds it now.
inline Error ReadConfigDocument(TRITONBACKEND_Model* model, rapidjson::Document* document) {
  TRITONSERVER_Message* message = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelConfig(model, 1, &message));
  Error parsed = Catching([&] { return ParseMessage(message, document); });
  Error deleted(TRITONSERVER_MessageDelete(message));
  return parsed;
}

/// Hands a completed configuration to the server; only while the model is being initialised.
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
