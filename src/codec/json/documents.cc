// SPDX-License-Identifier: Apache-2.0
#include "codec/json/documents.h"

#include "codec/json/text_buffer.h"

namespace nereid::codec::json {
namespace {

/// Appends `items` as an array; `append(item, json)` writes an item.
template <typename Items, typename Append>
void AppendArray(const Items& items, TextBuffer* json, Append&& append) {
  *json << '[';
  bool first = true;
  for (const auto& item : items) {
    if (!first) *json << ',';
    first = false;
    append(item, json);
  }
  *json << ']';
}

void AppendText(const std::string& text, TextBuffer* json) { json->AppendQuoted(text); }

void AppendTensor(const api::TensorMetadata& tensor, TextBuffer* json) {
  *json << "{\"name\":";
  json->AppendQuoted(tensor.name) << ",\"datatype\":";
  json->AppendQuoted(tensor.datatype) << ",\"shape\":";
  AppendArray(tensor.shape, json, [](int64_t dim, TextBuffer* out) { out->AppendInteger(dim); });
  *json << '}';
}

/// `key` includes its quotes, its colon and the preceding comma or brace.
void AppendDuration(std::string_view key, const api::StatisticDuration& duration,
                    TextBuffer* json) {
  *json << key << "{\"count\":";
  json->AppendInteger(duration.count) << ",\"ns\":";
  json->AppendInteger(duration.ns) << '}';
}

void AppendInferStatistics(const api::InferStatistics& stats, TextBuffer* json) {
  AppendDuration("{\"success\":", stats.success, json);
  AppendDuration(",\"fail\":", stats.fail, json);
  AppendDuration(",\"queue\":", stats.queue, json);
  AppendDuration(",\"compute_input\":", stats.compute_input, json);
  AppendDuration(",\"compute_infer\":", stats.compute_infer, json);
  AppendDuration(",\"compute_output\":", stats.compute_output, json);
  AppendDuration(",\"cache_hit\":", stats.cache_hit, json);
  AppendDuration(",\"cache_miss\":", stats.cache_miss, json);
  *json << '}';
}

void AppendResponseStatistics(const api::ResponseStatistics& stats, TextBuffer* json) {
  AppendDuration("{\"compute_infer\":", stats.compute_infer, json);
  AppendDuration(",\"compute_output\":", stats.compute_output, json);
  AppendDuration(",\"success\":", stats.success, json);
  AppendDuration(",\"fail\":", stats.fail, json);
  AppendDuration(",\"empty_response\":", stats.empty_response, json);
  AppendDuration(",\"cancel\":", stats.cancel, json);
  *json << '}';
}

void AppendBatchStatistics(const api::BatchStatistics& stats, TextBuffer* json) {
  *json << "{\"batch_size\":";
  json->AppendInteger(stats.batch_size);
  AppendDuration(",\"compute_input\":", stats.compute_input, json);
  AppendDuration(",\"compute_infer\":", stats.compute_infer, json);
  AppendDuration(",\"compute_output\":", stats.compute_output, json);
  *json << '}';
}

void AppendMemoryUsage(const api::MemoryUsage& usage, TextBuffer* json) {
  *json << "{\"type\":";
  json->AppendQuoted(usage.type) << ",\"id\":";
  json->AppendInteger(usage.id) << ",\"byte_size\":";
  json->AppendInteger(usage.byte_size) << '}';
}

void AppendModelStatistics(const api::ModelStatistics& stats, TextBuffer* json) {
  *json << "{\"name\":";
  json->AppendQuoted(stats.name) << ",\"version\":";
  json->AppendQuoted(stats.version) << ",\"last_inference\":";
  json->AppendInteger(stats.last_inference_ms) << ",\"inference_count\":";
  json->AppendInteger(stats.inference_count) << ",\"execution_count\":";
  json->AppendInteger(stats.execution_count) << ",\"inference_stats\":";
  AppendInferStatistics(stats.inference_stats, json);
  *json << ",\"response_stats\":{";
  bool first = true;
  for (const auto& [key, response] : stats.response_stats) {
    if (!first) *json << ',';
    first = false;
    json->AppendQuoted(key) << ':';
    AppendResponseStatistics(response, json);
  }
  *json << "},\"batch_stats\":";
  AppendArray(stats.batch_stats, json, AppendBatchStatistics);
  *json << ",\"memory_usage\":";
  AppendArray(stats.memory_usage, json, AppendMemoryUsage);
  *json << '}';
}

void AppendSequence(const api::SequenceInfo& sequence, TextBuffer* json) {
  *json << "{\"id\":";
  if (sequence.text_id) {
    json->AppendQuoted(sequence.id);
  } else {
    *json << sequence.id;
  }
  if (sequence.has_slot) {
    *json << ",\"state\":\"slot\",\"instance\":";
    json->AppendQuoted(sequence.instance) << ",\"slot\":";
    json->AppendInteger(uint64_t{sequence.slot});
  } else {
    *json << ",\"state\":\"backlog\"";
  }
  *json << ",\"queued\":";
  json->AppendInteger(sequence.queued) << ",\"executing\":";
  *json << (sequence.executing ? "true" : "false") << ",\"ended\":";
  *json << (sequence.open ? "false" : "true") << ",\"idle_us\":";
  json->AppendInteger(sequence.idle_ns / 1000) << ",\"age_us\":";
  json->AppendInteger(sequence.age_ns / 1000) << '}';
}

void AppendIndexEntry(const api::RepositoryIndexEntry& entry, TextBuffer* json) {
  *json << "{\"name\":";
  json->AppendQuoted(entry.name);
  const auto optional = [json](std::string_view key, const std::string& value) {
    if (value.empty()) return;
    *json << key;
    json->AppendMessage(value);
  };
  optional(",\"version\":", entry.version);
  optional(",\"state\":", entry.state);
  optional(",\"reason\":", entry.reason);
  *json << '}';
}

}  // namespace

std::string EncodeError(std::string_view message) {
  TextBuffer json;
  json << "{\"error\":";
  json.AppendMessage(message) << '}';
  return std::string(json.view());
}

std::string EncodeServerMetadata(const api::ServerMetadata& metadata) {
  TextBuffer json;
  json << "{\"name\":";
  json.AppendQuoted(metadata.name) << ",\"version\":";
  json.AppendQuoted(metadata.version) << ",\"extensions\":";
  AppendArray(metadata.extensions, &json, AppendText);
  json << '}';
  return std::string(json.view());
}

std::string EncodeModelMetadata(const api::ModelMetadata& metadata) {
  TextBuffer json;
  json << "{\"name\":";
  json.AppendQuoted(metadata.name) << ",\"versions\":";
  AppendArray(metadata.versions, &json, AppendText);
  json << ",\"platform\":";
  json.AppendQuoted(metadata.platform) << ",\"inputs\":";
  AppendArray(metadata.inputs, &json, AppendTensor);
  json << ",\"outputs\":";
  AppendArray(metadata.outputs, &json, AppendTensor);
  json << '}';
  return std::string(json.view());
}

std::string EncodeStatistics(const std::vector<api::ModelStatistics>& statistics) {
  TextBuffer json;
  json << "{\"model_stats\":";
  AppendArray(statistics, &json, AppendModelStatistics);
  json << '}';
  return std::string(json.view());
}

std::string EncodeSequences(const api::SequenceList& list) {
  TextBuffer json;
  json << "{\"total\":";
  json.AppendInteger(list.total) << ",\"sequences\":";
  AppendArray(list.sequences, &json, AppendSequence);
  json << '}';
  return std::string(json.view());
}

std::string EncodeRepositoryIndex(const std::vector<api::RepositoryIndexEntry>& entries) {
  TextBuffer json;
  AppendArray(entries, &json, AppendIndexEntry);
  return std::string(json.view());
}

}  // namespace nereid::codec::json
