// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/model_statistics.h"

#include "grpc_service.pb.h"

namespace nereid::codec::proto {
namespace {

void Set(const api::StatisticDuration& from, inference::StatisticDuration* to) {
  to->set_count(from.count);
  to->set_ns(from.ns);
}

void Set(const api::InferStatistics& from, inference::InferStatistics* to) {
  Set(from.success, to->mutable_success());
  Set(from.fail, to->mutable_fail());
  Set(from.queue, to->mutable_queue());
  Set(from.compute_input, to->mutable_compute_input());
  Set(from.compute_infer, to->mutable_compute_infer());
  Set(from.compute_output, to->mutable_compute_output());
  Set(from.cache_hit, to->mutable_cache_hit());
  Set(from.cache_miss, to->mutable_cache_miss());
}

void Set(const api::ResponseStatistics& from, inference::InferResponseStatistics* to) {
  Set(from.compute_infer, to->mutable_compute_infer());
  Set(from.compute_output, to->mutable_compute_output());
  Set(from.success, to->mutable_success());
  Set(from.fail, to->mutable_fail());
  Set(from.empty_response, to->mutable_empty_response());
  Set(from.cancel, to->mutable_cancel());
}

void Set(const api::BatchStatistics& from, inference::InferBatchStatistics* to) {
  to->set_batch_size(from.batch_size);
  Set(from.compute_input, to->mutable_compute_input());
  Set(from.compute_infer, to->mutable_compute_infer());
  Set(from.compute_output, to->mutable_compute_output());
}

void Set(const api::ModelStatistics& from, inference::ModelStatistics* to) {
  to->set_name(from.name);
  to->set_version(from.version);
  to->set_last_inference(from.last_inference_ms);
  to->set_inference_count(from.inference_count);
  to->set_execution_count(from.execution_count);
  Set(from.inference_stats, to->mutable_inference_stats());
  for (const auto& batch : from.batch_stats) Set(batch, to->add_batch_stats());
  for (const auto& [key, response] : from.response_stats) {
    Set(response, &(*to->mutable_response_stats())[key]);
  }
  for (const auto& memory : from.memory_usage) {
    auto* const usage = to->add_memory_usage();
    usage->set_type(memory.type);
    usage->set_id(memory.id);
    usage->set_byte_size(memory.byte_size);
  }
}

}  // namespace

void EncodeModelStatistics(const std::vector<api::ModelStatistics>& statistics,
                           inference::ModelStatisticsResponse* message) {
  for (const api::ModelStatistics& model : statistics) Set(model, message->add_model_stats());
}

}  // namespace nereid::codec::proto
