// SPDX-License-Identifier: Apache-2.0
#include "codec/json/model_statistics.h"

#include "base/json_writer.h"
#include "codec/json/array_text.h"

namespace nereid::codec::json {
namespace {

using base::JsonWriter;

void WriteDuration(std::string_view key, const api::StatisticDuration& duration, JsonWriter* json) {
  json->Key(key).BeginObject();
  json->Key("count").Integer(duration.count).Key("ns").Integer(duration.ns).EndObject();
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

}  // namespace

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

std::string EncodeModelStatistics(const std::vector<api::ModelStatistics>& statistics) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("model_stats");
  WriteArray(statistics, &json, WriteModelStatistics);
  json.EndObject();
  return text;
}

}  // namespace nereid::codec::json
