// SPDX-License-Identifier: Apache-2.0
// A model whose responses are cached: what its statistics say.
#include <gtest/gtest.h>

#include <thread>

#include "backend/testing/copy_backend.h"
#include "cache/testing/memory_cache.h"
#include "model/model.h"
#include "request/binding.h"
#include "request/normalize.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"

namespace nereid::model {
namespace {

constexpr const char* kConfig = R"(
  name: "m" backend: "copy" max_batch_size: 4
  input { name: "IN" data_type: TYPE_INT8 dims: [ -1 ] }
  output { name: "OUT0" data_type: TYPE_INT8 dims: [ -1 ] }
  instance_group { kind: KIND_CPU count: 1 }
  response_cache { enable: true })";

class ModelWithCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(backends_.AddBuiltIn("copy", backend::MakeCopyBackend()).ok());
    auto cache = cache::ResponseCache::Create("local", cache::MemoryCache::MakeLibrary(), "{}", {});
    ASSERT_TRUE(cache.ok());
    cache_ = std::move(cache).value();
  }
  void Load(cache::ResponseCache* cache) {
    ModelSource source;
    source.name = "m";
    source.version = 3;
    source.directory = "/nonexistent";
    source.version_directory = "/nonexistent/3";
    source.config = request::MakeModel(kConfig)->config;
    ModelEnvironment environment{backends_, base::SteadyClock(), timers_};
    environment.response_cache = cache;
    environment.histogram_latencies = true;
    auto model = Model::Create(environment, source);
    ASSERT_TRUE(model.ok()) << model.status().message();
    model_ = std::move(model).value();
  }
  /// Sends two requests that are the same but for the id; gives the second's answer.
  std::string InferTwice() {
    std::string answer;
    for (const char* id : {"first", "second"}) {
      auto sink = std::make_shared<request::RecordingSink>();
      auto request = std::make_unique<request::InferenceRequest>();
      request->id = id;
      request->AddInput("IN", tensor::DataType::kInt8, {2, 3}).value()->Append("abcdef", 6);
      request->SetSink(sink);
      request::BindRequest(*request, std::shared_ptr<const request::ModelIdentity>(
                                         &model_->identity(), [](auto*) {}));
      EXPECT_TRUE(request::Normalize(*request).ok());
      request->times.start_ns = base::SteadyClock().NowNs();
      EXPECT_TRUE(model_->Enqueue(request).ok());
      sink->WaitUntilDone();
      const auto& response = *sink->responses().at(0);
      answer = response.id() + ":" +
               std::string(response.outputs()[0]->data, response.outputs()[0]->size);
      sink->Clear();
    }
    return answer;
  }

  /// The statistics once that many executions are counted, which may be after the answers.
  telemetry::ModelStatistics StatisticsOf(uint64_t executions) {
    telemetry::ModelStatistics statistics = model_->Statistics();
    while (statistics.execution_count < executions) {
      std::this_thread::yield();
      statistics = model_->Statistics();
    }
    return statistics;
  }

  backend::BackendRegistry backends_{{"/nonexistent", true, 0, {}}};
  base::ThreadTimerQueue timers_;
  std::unique_ptr<cache::ResponseCache> cache_;
  std::unique_ptr<Model> model_;
};

TEST_F(ModelWithCacheTest, AHitCountsAsASuccessAndNotAsAnExecution) {
  Load(cache_.get());
  EXPECT_EQ(InferTwice(), "second:abcdef");
  const auto statistics = StatisticsOf(1);
  const auto& stats = statistics.inference_stats;
  EXPECT_TRUE(statistics.response_cache);
  EXPECT_EQ(stats.success.count, 2u);
  EXPECT_EQ(stats.queue.count, 2u);
  EXPECT_EQ(stats.compute_infer.count, 1u);
  EXPECT_EQ(stats.cache_hit.count, 1u);
  EXPECT_EQ(stats.cache_miss.count, 1u);
  EXPECT_GT(stats.cache_hit.ns, 0u);
  EXPECT_GT(stats.cache_miss.ns, 0u);
  EXPECT_EQ(statistics.inference_count, 2u) << "one request of batch size 2";
  EXPECT_EQ(statistics.pending_requests, 0u);
  EXPECT_EQ(statistics.first_response_ms.value().TotalCount(), 2u) << "the hit too";
}

TEST_F(ModelWithCacheTest, AServerWithoutACacheJustServes) {
  Load(nullptr);
  EXPECT_EQ(InferTwice(), "second:abcdef");
  const auto statistics = StatisticsOf(2);
  EXPECT_EQ(statistics.execution_count, 2u);
  EXPECT_EQ(statistics.inference_stats.cache_miss.count, 0u);
  EXPECT_TRUE(statistics.response_cache);
}

}  // namespace
}  // namespace nereid::model
