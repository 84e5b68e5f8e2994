// SPDX-License-Identifier: Apache-2.0
#include "app/tools/remote/replies.h"

#include "app/tools/remote/document_reader.h"

namespace nereid::app::tools {
namespace {

using base::Status;
using codec::json::Cursor;

Status ReadMemory(Cursor& cursor, std::optional<uint64_t>* bytes) {
  std::vector<std::optional<uint64_t>> sizes;
  NEREID_RETURN_IF_ERROR(ReadObjects(
      cursor, &sizes, [](Cursor& at, std::string_view key, std::optional<uint64_t>& size) {
        return key == "byte_size" ? ReadCount(at, key, &size) : at.SkipValue();
      }));
  for (const auto& size : sizes) {
    const uint64_t sum = bytes->value_or(0);
    if (size) *bytes = *size > UINT64_MAX - sum ? UINT64_MAX : sum + *size;
  }
  return Status::Ok();
}

Status ReadNumbers(Cursor& cursor, std::string_view key, ModelNumbers& numbers) {
  if (key == "name") return ReadText(cursor, key, &numbers.name);
  if (key == "version") return ReadText(cursor, key, &numbers.version);
  if (key == "inference_count") return ReadCount(cursor, key, &numbers.inferences);
  if (key == "memory_usage") return ReadMemory(cursor, &numbers.memory_bytes);
  return cursor.SkipValue();
}

}  // namespace

base::Result<std::vector<IndexedModel>> DecodeIndex(std::string_view json) {
  std::vector<IndexedModel> models;
  Cursor cursor(json);
  NEREID_RETURN_IF_ERROR(
      ReadObjects(cursor, &models, [](Cursor& at, std::string_view key, IndexedModel& model) {
        if (key == "name") return ReadText(at, key, &model.name);
        if (key == "version") return ReadText(at, key, &model.version);
        if (key == "state") return ReadText(at, key, &model.state);
        if (key == "reason") return ReadText(at, key, &model.reason);
        return at.SkipValue();
      }));
  NEREID_RETURN_IF_ERROR(cursor.ExpectEnd());
  return models;
}

base::Result<std::vector<ModelNumbers>> DecodeStatistics(std::string_view json) {
  std::vector<ModelNumbers> numbers;
  NEREID_RETURN_IF_ERROR(ReadRoot(json, [&](Cursor& cursor, std::string_view key) {
    return key == "model_stats" ? ReadObjects(cursor, &numbers, ReadNumbers) : cursor.SkipValue();
  }));
  return numbers;
}

base::Result<ServerDescription> DecodeServer(std::string_view json) {
  ServerDescription server;
  NEREID_RETURN_IF_ERROR(ReadRoot(json, [&](Cursor& cursor, std::string_view key) {
    if (key == "name") return ReadText(cursor, key, &server.name);
    if (key == "version") return ReadText(cursor, key, &server.version);
    if (key == "extensions") return ReadTexts(cursor, &server.extensions);
    return cursor.SkipValue();
  }));
  return server;
}

base::Result<std::vector<HealthReason>> DecodeReasons(std::string_view json) {
  std::vector<HealthReason> reasons;
  const auto read = [](Cursor& at, std::string_view key, HealthReason& reason) {
    if (key == "cause") return ReadText(at, key, &reason.cause);
    if (key == "model") return ReadText(at, key, &reason.model);
    if (key == "version") return ReadText(at, key, &reason.version);
    if (key == "state") return ReadText(at, key, &reason.state);
    if (key == "text") return ReadText(at, key, &reason.text);
    return at.SkipValue();
  };
  NEREID_RETURN_IF_ERROR(ReadRoot(json, [&](Cursor& cursor, std::string_view key) {
    return key == "reasons" ? ReadObjects(cursor, &reasons, read) : cursor.SkipValue();
  }));
  return reasons;
}

std::string ErrorText(std::string_view body) {
  std::string text;
  const Status read = ReadRoot(body, [&](Cursor& cursor, std::string_view key) {
    return key == "error" ? ReadText(cursor, key, &text) : cursor.SkipValue();
  });
  if (read.ok() && !text.empty()) return text;
  return std::string(body.substr(0, 500));
}

}  // namespace nereid::app::tools
