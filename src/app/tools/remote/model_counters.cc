// SPDX-License-Identifier: Apache-2.0
#include "app/tools/remote/model_counters.h"

#include <algorithm>
#include <map>
#include <optional>

#include "app/tools/remote/document_reader.h"

namespace nereid::app::tools {
namespace {

using base::Status;
using codec::json::Cursor;

constexpr size_t kMaxBatchSizes = 10'000;

Status ReadInto(Cursor& cursor, std::string_view name, uint64_t* value) {
  std::optional<uint64_t> count;
  NEREID_RETURN_IF_ERROR(ReadCount(cursor, name, &count));
  *value = count.value_or(0);
  return {};
}

Status ReadDuration(Cursor& cursor, DurationCounter* duration) {
  return ReadMembers(cursor, [&](Cursor& at, std::string_view key) {
    if (key == "count") return ReadInto(at, key, &duration->count);
    if (key == "ns") return ReadInto(at, key, &duration->ns);
    return at.SkipValue();
  });
}

Status ReadInferenceStats(Cursor& cursor, ModelCounters* model) {
  return ReadMembers(cursor, [&](Cursor& at, std::string_view key) {
    if (key == "success") return ReadDuration(at, &model->success);
    if (key == "fail") return ReadDuration(at, &model->fail);
    if (key == "queue") return ReadDuration(at, &model->queue);
    if (key == "compute_input") return ReadDuration(at, &model->compute_input);
    if (key == "compute_infer") return ReadDuration(at, &model->compute_infer);
    if (key == "compute_output") return ReadDuration(at, &model->compute_output);
    if (key == "cache_hit") return ReadDuration(at, &model->cache_hit);
    return at.SkipValue();
  });
}

Status ReadBatch(Cursor& cursor, std::string_view key, BatchCounter& batch) {
  if (key == "batch_size") return ReadInto(cursor, key, &batch.size);
  const bool is_inference = key == "compute_infer";
  if (!is_inference && key != "compute_input" && key != "compute_output") return cursor.SkipValue();
  DurationCounter duration;
  NEREID_RETURN_IF_ERROR(ReadDuration(cursor, &duration));
  batch.ns += duration.ns;
  if (is_inference) batch.executions = duration.count;
  return {};
}

Status ReadMemory(Cursor& cursor, uint64_t* bytes) {
  std::vector<uint64_t> sizes;
  NEREID_RETURN_IF_ERROR(
      ReadObjects(cursor, &sizes, [](Cursor& at, std::string_view key, uint64_t& size) {
        return key == "byte_size" ? ReadInto(at, key, &size) : at.SkipValue();
      }));
  for (const uint64_t size : sizes) *bytes += std::min(size, UINT64_MAX - *bytes);
  return {};
}

Status ReadModel(Cursor& cursor, std::string_view key, ModelCounters& model) {
  if (key == "name") return ReadText(cursor, key, &model.name);
  if (key == "version") return ReadText(cursor, key, &model.version);
  if (key == "inference_count") return ReadInto(cursor, key, &model.inferences);
  if (key == "execution_count") return ReadInto(cursor, key, &model.executions);
  if (key == "inference_stats") return ReadInferenceStats(cursor, &model);
  if (key == "memory_usage") return ReadMemory(cursor, &model.memory_bytes);
  if (key != "batch_stats") return cursor.SkipValue();
  NEREID_RETURN_IF_ERROR(ReadObjects(cursor, &model.batches, ReadBatch));
  if (model.batches.size() <= kMaxBatchSizes) return {};
  return Status::Internal("the server's statistics have too many batch sizes");
}

uint64_t Less(uint64_t after, uint64_t before) { return after >= before ? after - before : after; }

DurationCounter Less(const DurationCounter& after, const DurationCounter& before) {
  return {Less(after.count, before.count), Less(after.ns, before.ns)};
}

void Add(const DurationCounter& more, DurationCounter* sum) {
  sum->count += more.count;
  sum->ns += more.ns;
}

constexpr DurationCounter ModelCounters::*kDurations[] = {
    &ModelCounters::success,       &ModelCounters::fail,          &ModelCounters::queue,
    &ModelCounters::compute_input, &ModelCounters::compute_infer, &ModelCounters::compute_output,
    &ModelCounters::cache_hit};

}  // namespace

base::Result<std::vector<ModelCounters>> DecodeCounters(std::string_view json) {
  std::vector<ModelCounters> models;
  NEREID_RETURN_IF_ERROR(ReadRoot(json, [&](Cursor& cursor, std::string_view key) {
    return key == "model_stats" ? ReadObjects(cursor, &models, ReadModel) : cursor.SkipValue();
  }));
  return models;
}

ModelCounters Difference(const ModelCounters& before, const ModelCounters& after) {
  if (after.inferences < before.inferences || after.success.count < before.success.count) {
    return after;
  }
  ModelCounters difference = after;
  difference.inferences = Less(after.inferences, before.inferences);
  difference.executions = Less(after.executions, before.executions);
  for (const auto member : kDurations) {
    difference.*member = Less(after.*member, before.*member);
  }
  std::map<uint64_t, BatchCounter> old;
  for (const BatchCounter& batch : before.batches) old[batch.size] = batch;
  for (BatchCounter& batch : difference.batches) {
    const auto found = old.find(batch.size);
    if (found == old.end()) continue;
    batch.executions = Less(batch.executions, found->second.executions);
    batch.ns = Less(batch.ns, found->second.ns);
  }
  return difference;
}

ModelCounters Sum(const std::vector<ModelCounters>& versions, std::string_view model) {
  ModelCounters sum;
  sum.name = model;
  std::map<uint64_t, BatchCounter> batches;
  for (const ModelCounters& version : versions) {
    if (version.name != model) continue;
    sum.inferences += version.inferences;
    sum.executions += version.executions;
    sum.memory_bytes += std::min(version.memory_bytes, UINT64_MAX - sum.memory_bytes);
    for (const auto member : kDurations) Add(version.*member, &(sum.*member));
    for (const BatchCounter& batch : version.batches) {
      BatchCounter& all = batches[batch.size];
      all.size = batch.size;
      all.executions += batch.executions;
      all.ns += batch.ns;
    }
  }
  for (const auto& [size, batch] : batches) sum.batches.push_back(batch);
  return sum;
}

}  // namespace nereid::app::tools
