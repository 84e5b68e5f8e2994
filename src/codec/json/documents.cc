// SPDX-License-Identifier: Apache-2.0
#include "codec/json/documents.h"

#include "base/json_writer.h"
#include "base/utf8.h"

namespace nereid::codec::json {
namespace {

using base::JsonWriter;

/// Writes `items` as an array; `write(item, json)` writes an item.
template <typename Items, typename Write>
void WriteArray(const Items& items, JsonWriter* json, Write&& write) {
  json->BeginArray();
  for (const auto& item : items) write(item, json);
  json->EndArray();
}

void WriteText(const std::string& text, JsonWriter* json) { json->String(text); }

void WriteTensor(const api::TensorMetadata& tensor, JsonWriter* json) {
  json->BeginObject().Key("name").String(tensor.name).Key("datatype").String(tensor.datatype);
  json->Key("shape");
  WriteArray(tensor.shape, json, [](int64_t dim, JsonWriter* out) { out->Integer(dim); });
  json->EndObject();
}

void WriteDuration(std::string_view key, const api::StatisticDuration& duration, JsonWriter* json) {
  json->Key(key).BeginObject();
  json->Key("count").Integer(duration.count).Key("ns").Integer(duration.ns).EndObject();
}

void WriteInferStatistics(const api::InferStatistics& stats, JsonWriter* json) {
  json->BeginObject();
  WriteDuration("success", stats.success, json);
  WriteDuration("fail", stats.fail, json);
  WriteDuration("queue", stats.queue, json);
  WriteDuration("compute_input", stats.compute_input, json);
  WriteDuration("compute_infer", stats.compute_infer, json);
  WriteDuration("compute_output", stats.compute_output, json);
  WriteDuration("cache_hit", stats.cache_hit, json);
  WriteDuration("cache_miss", stats.cache_miss, json);
  json->EndObject();
}

void WriteResponseStatistics(const api::ResponseStatistics& stats, JsonWriter* json) {
  json->BeginObject();
  WriteDuration("compute_infer", stats.compute_infer, json);
  WriteDuration("compute_output", stats.compute_output, json);
  WriteDuration("success", stats.success, json);
  WriteDuration("fail", stats.fail, json);
  WriteDuration("empty_response", stats.empty_response, json);
  WriteDuration("cancel", stats.cancel, json);
  json->EndObject();
}

void WriteBatchStatistics(const api::BatchStatistics& stats, JsonWriter* json) {
  json->BeginObject().Key("batch_size").Integer(stats.batch_size);
  WriteDuration("compute_input", stats.compute_input, json);
  WriteDuration("compute_infer", stats.compute_infer, json);
  WriteDuration("compute_output", stats.compute_output, json);
  json->EndObject();
}

void WriteMemoryUsage(const api::MemoryUsage& usage, JsonWriter* json) {
  json->BeginObject().Key("type").String(usage.type).Key("id").Integer(usage.id);
  json->Key("byte_size").Integer(usage.byte_size).EndObject();
}

void WriteModelStatistics(const api::ModelStatistics& stats, JsonWriter* json) {
  json->BeginObject().Key("name").String(stats.name).Key("version").String(stats.version);
  json->Key("last_inference").Integer(stats.last_inference_ms);
  json->Key("inference_count").Integer(stats.inference_count);
  json->Key("execution_count").Integer(stats.execution_count);
  json->Key("inference_stats");
  WriteInferStatistics(stats.inference_stats, json);
  json->Key("response_stats").BeginObject();
  for (const auto& [key, response] : stats.response_stats) {
    json->Key(key);
    WriteResponseStatistics(response, json);
  }
  json->EndObject().Key("batch_stats");
  WriteArray(stats.batch_stats, json, WriteBatchStatistics);
  json->Key("memory_usage");
  WriteArray(stats.memory_usage, json, WriteMemoryUsage);
  json->EndObject();
}

void WriteSequence(const api::SequenceInfo& sequence, JsonWriter* json) {
  json->BeginObject().Key("id");
  if (sequence.text_id) {
    json->String(sequence.id);
  } else {
    json->Raw(sequence.id);
  }
  if (sequence.has_slot) {
    json->Key("state").String("slot").Key("instance").String(sequence.instance);
    json->Key("slot").Integer(sequence.slot);
  } else {
    json->Key("state").String("backlog");
  }
  json->Key("queued").Integer(sequence.queued).Key("executing").Bool(sequence.executing);
  json->Key("ended").Bool(!sequence.open);
  json->Key("idle_us").Integer(sequence.idle_ns / 1000);
  json->Key("age_us").Integer(sequence.age_ns / 1000).EndObject();
}

void WriteIndexEntry(const api::RepositoryIndexEntry& entry, JsonWriter* json) {
  json->BeginObject().Key("name").String(entry.name);
  const auto optional = [json](std::string_view key, const std::string& value) {
    if (!value.empty()) json->Key(key).String(base::ReplaceInvalidUtf8(value));
  };
  optional("version", entry.version);
  optional("state", entry.state);
  optional("reason", entry.reason);
  json->EndObject();
}

}  // namespace

// Parts of a message may come from a plug-in or a file: bytes that are not UTF-8 become U+FFFD.
std::string EncodeError(std::string_view message) {
  std::string json;
  JsonWriter(&json)
      .BeginObject()
      .Key("error")
      .String(base::ReplaceInvalidUtf8(message))
      .EndObject();
  return json;
}

std::string EncodeServerMetadata(const api::ServerMetadata& metadata) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("name").String(metadata.name).Key("version").String(metadata.version);
  json.Key("extensions");
  WriteArray(metadata.extensions, &json, WriteText);
  json.EndObject();
  return text;
}

std::string EncodeModelMetadata(const api::ModelMetadata& metadata) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("name").String(metadata.name).Key("versions");
  WriteArray(metadata.versions, &json, WriteText);
  json.Key("platform").String(metadata.platform).Key("inputs");
  WriteArray(metadata.inputs, &json, WriteTensor);
  json.Key("outputs");
  WriteArray(metadata.outputs, &json, WriteTensor);
  json.EndObject();
  return text;
}

std::string EncodeStatistics(const std::vector<api::ModelStatistics>& statistics) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("model_stats");
  WriteArray(statistics, &json, WriteModelStatistics);
  json.EndObject();
  return text;
}

std::string EncodeSequences(const api::SequenceList& list) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("total").Integer(list.total).Key("sequences");
  WriteArray(list.sequences, &json, WriteSequence);
  json.EndObject();
  return text;
}

std::string EncodeRepositoryIndex(const std::vector<api::RepositoryIndexEntry>& entries) {
  std::string text;
  JsonWriter json(&text);
  WriteArray(entries, &json, WriteIndexEntry);
  return text;
}

}  // namespace nereid::codec::json
