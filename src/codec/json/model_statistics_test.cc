// SPDX-License-Identifier: Apache-2.0
#include "codec/json/model_statistics.h"

#include <gtest/gtest.h>

namespace nereid::codec::json {
namespace {

TEST(ModelStatisticsTest, HasEveryMemberInOrder) {
  api::ModelStatistics stats;
  stats.name = "m";
  stats.version = "1";
  stats.last_inference_ms = 1700000000000;
  stats.inference_count = 4;
  stats.execution_count = 2;
  stats.inference_stats.success = {4, 400};
  stats.inference_stats.cache_miss = {1, 2};
  stats.response_stats.push_back({"0", {}});
  stats.response_stats[0].second.cancel = {1, 9};
  api::BatchStatistics batch;
  batch.batch_size = 2;
  batch.compute_infer = {2, 20};
  stats.batch_stats.push_back(batch);
  stats.memory_usage.push_back({"GPU", 1, 1024});
  const std::string zero = R"({"count":0,"ns":0})";
  EXPECT_EQ(
      EncodeModelStatistics({stats}),
      R"({"model_stats":[{"name":"m","version":"1","last_inference":1700000000000,)"
      R"("inference_count":4,"execution_count":2,"inference_stats":{"success":{"count":4,"ns":400},)"
      R"("fail":)" +
          zero + R"(,"queue":)" + zero + R"(,"compute_input":)" + zero + R"(,"compute_infer":)" +
          zero + R"(,"compute_output":)" + zero + R"(,"cache_hit":)" + zero +
          R"(,"cache_miss":{"count":1,"ns":2}},"response_stats":{"0":{"compute_infer":)" + zero +
          R"(,"compute_output":)" + zero + R"(,"success":)" + zero + R"(,"fail":)" + zero +
          R"(,"empty_response":)" + zero +
          R"(,"cancel":{"count":1,"ns":9}}},)"
          R"("batch_stats":[{"batch_size":2,"compute_input":)" +
          zero + R"(,"compute_infer":{"count":2,"ns":20},"compute_output":)" + zero +
          R"(}],"memory_usage":[{"type":"GPU","id":1,"byte_size":1024}]}]})");
  EXPECT_EQ(EncodeModelStatistics({}), R"({"model_stats":[]})");
}

}  // namespace
}  // namespace nereid::codec::json
