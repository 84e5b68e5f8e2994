// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/json_members.h"

#include "base/parse_number.h"

namespace nereid::repository::storage {

base::Result<rapidjson::Document> ParseJsonObject(std::string_view text, std::string_view what) {
  rapidjson::Document document;
  // Iterative: the nesting of the text does not use the stack.
  document.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (document.HasParseError() || !document.IsObject()) {
    return base::Status::Internal(std::string(what) + " is not a JSON object");
  }
  return document;
}

const rapidjson::Value* FindMember(const rapidjson::Value& object, const char* name) {
  if (!object.IsObject()) return nullptr;
  const auto found = object.FindMember(name);
  return found == object.MemberEnd() ? nullptr : &found->value;
}

std::string TextMember(const rapidjson::Value& object, const char* name) {
  const rapidjson::Value* const value = FindMember(object, name);
  if (value == nullptr || !value->IsString()) return {};
  return {value->GetString(), value->GetStringLength()};
}

std::optional<uint64_t> NumberMember(const rapidjson::Value& object, const char* name) {
  const rapidjson::Value* const value = FindMember(object, name);
  if (value == nullptr) return std::nullopt;
  if (value->IsUint64()) return value->GetUint64();
  if (!value->IsString()) return std::nullopt;
  return base::ParseWhole<uint64_t>({value->GetString(), value->GetStringLength()});
}

}  // namespace nereid::repository::storage
