// SPDX-License-Identifier: Apache-2.0
#include "codec/json/sagemaker_model.h"

#include <optional>
#include <utility>

#include "base/json_writer.h"
#include "codec/json/array_text.h"
#include "codec/json/cursor.h"
#include "codec/json/repository_members.h"

namespace nereid::codec::json {
namespace {

using base::JsonWriter;
using base::Status;

Status MissingField(std::string_view name) {
  return Status::InvalidArgument("the request to load a model has no '" + std::string(name) +
                                 "' field");
}

void WriteModel(const SagemakerModel& model, JsonWriter* json) {
  json->BeginObject();
  json->Key("modelName").String(model.name);
  json->Key("modelUrl").String(model.url);
  json->EndObject();
}

}  // namespace

base::Result<SagemakerModel> DecodeSagemakerLoad(std::string_view json) {
  std::optional<std::string> name, url;
  NEREID_RETURN_IF_ERROR(
      ForEachRootMember(json, [&](Cursor& cursor, std::string_view key) -> Status {
        std::optional<std::string>* const value =
            key == "model_name" ? &name : (key == "url" ? &url : nullptr);
        // The first of repeated members counts.
        if (value == nullptr || value->has_value()) return cursor.SkipValue();
        return ReadStringMember(cursor, key, &value->emplace());
      }));
  if (!name) return MissingField("model_name");
  if (!url) return MissingField("url");
  return SagemakerModel{std::move(*name), std::move(*url)};
}

std::string EncodeSagemakerModel(const SagemakerModel& model) {
  std::string text;
  JsonWriter json(&text);
  WriteModel(model, &json);
  return text;
}

std::string EncodeSagemakerModels(const std::vector<SagemakerModel>& models,
                                  std::string_view next_page_token) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("models");
  WriteArray(models, &json, WriteModel);
  if (!next_page_token.empty()) json.Key("nextPageToken").String(next_page_token);
  json.EndObject();
  return text;
}

}  // namespace nereid::codec::json
