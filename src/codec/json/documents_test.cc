// SPDX-License-Identifier: Apache-2.0
#include "codec/json/documents.h"

#include <gtest/gtest.h>

#include "codec/json/repository_requests.h"

namespace nereid::codec::json {
namespace {

TEST(Documents, Error) {
  EXPECT_EQ(EncodeError("a \"b\"\n\x01\\"), R"({"error":"a \"b\"\n\u0001\\"})");
}

TEST(Documents, MessagesAreUtf8WhateverAPluginSays) {
  EXPECT_EQ(EncodeError("name '\xff\u00E4\xc3'"), "{\"error\":\"name '\uFFFD\u00E4\uFFFD'\"}");
  EXPECT_EQ(EncodeRepositoryIndex({{"m", "1", "UNAVAILABLE", "no \xe2\x82"}}),
            "[{\"name\":\"m\",\"version\":\"1\",\"state\":\"UNAVAILABLE\",\"reason\":\"no "
            "\uFFFD\uFFFD\"}]");
}

TEST(Documents, ServerMetadata) {
  EXPECT_EQ(EncodeServerMetadata({"triton", "2.51.0", {"sequence", "statistics"}}),
            R"({"name":"triton","version":"2.51.0","extensions":["sequence","statistics"]})");
}

TEST(Documents, ModelMetadata) {
  api::ModelMetadata metadata;
  metadata.name = "m";
  metadata.versions = {"1", "3"};
  metadata.platform = "onnxruntime_onnx";
  metadata.inputs = {{"IN", "FP32", {-1, 4}}};
  metadata.outputs = {{"OUT", "BYTES", {}}};
  EXPECT_EQ(EncodeModelMetadata(metadata),
            R"({"name":"m","versions":["1","3"],"platform":"onnxruntime_onnx",)"
            R"("inputs":[{"name":"IN","datatype":"FP32","shape":[-1,4]}],)"
            R"("outputs":[{"name":"OUT","datatype":"BYTES","shape":[]}]})");
}

TEST(Documents, RepositoryIndexLeavesOutWhatIsNotKnown) {
  EXPECT_EQ(
      EncodeRepositoryIndex(
          {{"a", "", "", ""}, {"b", "1", "READY", ""}, {"c", "2", "UNAVAILABLE", "unloaded"}}),
      R"([{"name":"a"},{"name":"b","version":"1","state":"READY"},)"
      R"({"name":"c","version":"2","state":"UNAVAILABLE","reason":"unloaded"}])");
  EXPECT_EQ(EncodeRepositoryIndex({}), "[]");
}

TEST(Documents, StatisticsHaveEveryMemberInOrder) {
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
      EncodeStatistics({stats}),
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
  EXPECT_EQ(EncodeStatistics({}), R"({"model_stats":[]})");
}

TEST(DocumentsTest, Sequences) {
  EXPECT_EQ(EncodeSequences({}), R"({"total":0,"sequences":[]})");
  api::SequenceInfo in_slot;
  in_slot.id = "18446744073709551615";
  in_slot.has_slot = true;
  in_slot.instance = "m_0";
  in_slot.slot = 3;
  in_slot.executing = true;
  in_slot.age_ns = 5'000;
  api::SequenceInfo waits;
  waits.id = "a\"b";
  waits.text_id = true;
  waits.open = false;
  waits.queued = 2;
  EXPECT_EQ(EncodeSequences({7, {in_slot, waits}}),
            R"({"total":7,"sequences":[{"id":18446744073709551615,"state":"slot","instance":"m_0",)"
            R"("slot":3,"queued":0,"executing":true,"ended":false,"idle_us":0,"age_us":5},)"
            R"({"id":"a\"b","state":"backlog","queued":2,"executing":false,"ended":true,)"
            R"("idle_us":0,"age_us":0}]})");
}

TEST(RepositoryRequests, Index) {
  EXPECT_FALSE(*DecodeIndexRequest(""));
  EXPECT_FALSE(*DecodeIndexRequest("{}"));
  EXPECT_TRUE(*DecodeIndexRequest(R"({"ready":true})"));
  EXPECT_EQ(DecodeIndexRequest(R"({"ready":1})").status().message(),
            "Unable to parse 'ready': attempt to access JSON non-boolean as boolean");
  EXPECT_FALSE(DecodeIndexRequest("{").ok());
}

TEST(RepositoryRequests, Load) {
  EXPECT_TRUE(DecodeLoadRequest("")->empty());
  const auto parameters = DecodeLoadRequest(
      R"({"parameters":{"config":"{\"max_batch_size\":4}","file:1/model.onnx":"AAEC\n/w=="}})");
  ASSERT_TRUE(parameters.ok()) << parameters.status().message();
  ASSERT_EQ(parameters->size(), 2u);
  EXPECT_EQ((*parameters)[0].value, R"({"max_batch_size":4})");
  EXPECT_EQ((*parameters)[1].name, "file:1/model.onnx");
  EXPECT_EQ((*parameters)[1].value, std::string("\0\1\2\xff", 4));
  EXPECT_EQ(DecodeLoadRequest(R"({"parameters":{"other":"x"}})").status().message(),
            "unexpected error on creating Triton parameter");
  std::string many = R"({"parameters":{"config":"")";
  for (int i = 0; i < 16'384; ++i) many += R"(,"file:1/x":"")";
  EXPECT_EQ(DecodeLoadRequest(many + "}}").status().message(),
            "a request to load a model can have at most 16384 parameters");
  EXPECT_EQ(DecodeLoadRequest(R"({"parameters":{"config":1}})").status().code(),
            base::StatusCode::kInternal);
}

TEST(RepositoryRequests, Unload) {
  EXPECT_FALSE(*DecodeUnloadRequest(""));
  EXPECT_TRUE(*DecodeUnloadRequest(R"({"parameters":{"unload_dependents":true}})"));
  EXPECT_FALSE(*DecodeUnloadRequest(R"({"parameters":{"unload_dependents":"true"}})"));
}

}  // namespace
}  // namespace nereid::codec::json
