// SPDX-License-Identifier: Apache-2.0
#include "cache/model_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/mutex.h"
#include "cache/testing/memory_cache.h"
#include "request/binding.h"
#include "request/normalize.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"
#include "schedule/response_order.h"

namespace nereid::cache {
namespace {

using base::Status;
using request::InferenceRequest;
using request::RecordingSink;
using schedule::RequestPtr;

/// Keeps requests until the test answers them. Thread-safe.
class ManualScheduler final : public schedule::RequestTarget {
 public:
  Status Enqueue(RequestPtr& request) override {
    const base::MutexLock lock(mutex_);
    if (!refusal.ok()) return refusal;
    if (order != nullptr) order->Reserve(*request->response_factory());
    queued_.push_back(std::move(request));
    changed_.NotifyAll();
    return Status::Ok();
  }
  std::shared_ptr<schedule::ResponseOrder> response_order() const override { return order; }

  size_t size() {
    const base::MutexLock lock(mutex_);
    return queued_.size();
  }
  RequestPtr Take(size_t index) {
    base::MutexLock lock(mutex_);
    while (queued_.size() <= index || queued_[index] == nullptr) changed_.Wait(lock);
    return std::move(queued_[index]);
  }
  /// Answers like an identity model, with a parameter.
  void Answer(size_t index) {
    RequestPtr request = Take(index);
    auto response = request->response_factory()->NewResponse().value();
    const request::Input& input = request->inputs()[0];
    auto type = memory::MemoryType::kCpu;
    int64_t id = 0;
    auto* output = response->AddOutput("OUT", input.type, input.shape).value();
    ASSERT_TRUE(response->AllocateOutput(output, input.ByteSize(), &type, &id).ok());
    std::memcpy(output->data, input.pieces[0].data, output->size);
    response->parameters().push_back({"from", std::string("model")});
    request->response_factory()->Send(std::move(response), true);
    Release(std::move(request));
  }
  static void Release(RequestPtr request) {
    const auto sink = request->sink();
    request->Unbind();
    sink->RequestReleased(std::move(request));
  }

  Status refusal;
  std::shared_ptr<schedule::ResponseOrder> order;

 private:
  base::Mutex mutex_;
  base::ConditionVariable changed_;
  std::vector<RequestPtr> queued_ NEREID_GUARDED_BY(mutex_);
};

class CountingObserver final : public CacheObserver {
 public:
  void OnHit(const InferenceRequest& request, uint64_t start_ns, uint64_t end_ns) override {
    EXPECT_GE(start_ns, request.times.queue_ns);
    EXPECT_GE(end_ns, start_ns);
    ++hits;
  }
  void OnMiss(uint64_t) override { ++misses; }
  std::atomic<int> hits{0}, misses{0};
};

class ModelCacheTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { Make({}); }
  void Make(ResponseCache::Limits limits) {
    cache_.reset();
    auto made = ResponseCache::Create(GetParam(), MemoryCache::MakeLibrary(), "{}", limits);
    ASSERT_TRUE(made.ok());
    response_cache_ = std::move(made).value();
    cache_ = std::make_unique<ModelCache>(*response_cache_, base::SteadyClock(), observer_);
  }
  void TearDown() override {
    MemoryCache::Instance().Release();
    for (const auto& sink : sinks_) sink->Clear();
    response_cache_.reset();  // completes the posted work, which uses the model's cache
  }
  bool blocks() const { return response_cache_->blocks(); }

  RequestPtr NewRequest(const std::string& bytes, const std::string& id = "") {
    auto request = std::make_unique<InferenceRequest>();
    request->id = id;
    texts_.push_back(std::make_unique<std::string>(bytes));
    const tensor::Shape shape = {static_cast<int64_t>(bytes.size())};
    request->AddInput("IN", tensor::DataType::kInt8, shape)
        .value()
        ->Append(texts_.back()->data(), bytes.size());
    sinks_.push_back(std::make_shared<RecordingSink>());
    request->SetSink(sinks_.back());
    request::BindRequest(*request, model_);
    EXPECT_TRUE(request::Normalize(*request).ok());
    return request;
  }
  Status Enqueue(RequestPtr request) { return Submit(request); }
  Status Submit(RequestPtr& request) {
    return cache_->Enqueue(request, fingerprint_,
                           ModelCache::Target(std::shared_ptr<void>(), &scheduler_));
  }
  /// Sends a request, answers it with the model, and waits until the response is stored.
  void Fill(const std::string& bytes) {
    const size_t index = filled_++;
    const size_t inserts = MemoryCache::Instance().inserts();
    ASSERT_TRUE(Enqueue(NewRequest(bytes, "first")).ok());
    scheduler_.Answer(index);
    sinks_.back()->WaitUntilDone();
    MemoryCache::Instance().WaitForInserts(inserts + 1);
    while (observer_.misses < static_cast<int>(filled_)) std::this_thread::yield();
  }
  static std::string BytesOf(RecordingSink& sink) {
    const auto& output = *sink.responses().at(0)->outputs().at(0);
    return std::string(output.data, output.size);
  }

  std::shared_ptr<const request::ModelIdentity> model_ = request::MakeModel(R"(
    name: "m" backend: "b"
    input { name: "IN" data_type: TYPE_INT8 dims: [ -1 ] }
    output { name: "OUT" data_type: TYPE_INT8 dims: [ -1 ] })");
  CountingObserver observer_;
  Digest fingerprint_{};
  std::unique_ptr<ModelCache> cache_;
  ManualScheduler scheduler_;
  std::unique_ptr<ResponseCache> response_cache_;
  std::vector<std::unique_ptr<std::string>> texts_;
  std::vector<std::shared_ptr<RecordingSink>> sinks_;
  size_t filled_ = 0;
};

// Look-ups in "local" run on the calling thread, those in other caches on the cache's own threads.
INSTANTIATE_TEST_SUITE_P(Kinds, ModelCacheTest, ::testing::Values("local", "memory"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_P(ModelCacheTest, TheSecondAnswerComesFromTheCache) {
  Fill("abc");
  ASSERT_TRUE(Enqueue(NewRequest("abc", "second")).ok());
  sinks_[1]->WaitUntilDone();
  EXPECT_EQ(scheduler_.size(), 1u);
  EXPECT_EQ(BytesOf(*sinks_[1]), "abc");
  const auto& response = *sinks_[1]->responses()[0];
  EXPECT_EQ(response.id(), "second");
  ASSERT_EQ(response.parameters().size(), 1u);
  EXPECT_EQ(std::get<std::string>(response.parameters()[0].value), "model");
  EXPECT_EQ(sinks_[1]->finals(), 1u);
  EXPECT_EQ(sinks_[1]->released(), 1u);
  EXPECT_EQ(observer_.hits, 1);
  EXPECT_EQ(observer_.misses, 1);
  ASSERT_TRUE(Enqueue(NewRequest("abd")).ok());
  scheduler_.Answer(1);
  sinks_[2]->WaitUntilDone();
  EXPECT_EQ(BytesOf(*sinks_[2]), "abd");
}

TEST_P(ModelCacheTest, OtherContentHasOtherAnswers) {
  Fill("abc");
  fingerprint_[0] = 1;
  ASSERT_TRUE(Enqueue(NewRequest("abc")).ok());
  scheduler_.Answer(1);
  sinks_[1]->WaitUntilDone();
  EXPECT_EQ(observer_.hits, 0);
}

TEST_P(ModelCacheTest, AMissHasTwoReferencesToItsModel) {
  if (blocks()) GTEST_SKIP() << "the thread of the look-up has one, too, for a moment";
  const long idle = model_.use_count();
  ASSERT_TRUE(Enqueue(NewRequest("abc")).ok());
  RequestPtr request = scheduler_.Take(0);
  EXPECT_EQ(model_.use_count(), idle + 2) << "the server counts requests by them";
  request::RefuseRequest(std::move(request), Status::Internal("failed"));
}

TEST_P(ModelCacheTest, ErrorsAreNotStored) {
  ASSERT_TRUE(Enqueue(NewRequest("abc")).ok());
  request::RefuseRequest(scheduler_.Take(0), Status::Internal("failed"));
  sinks_[0]->WaitUntilDone();
  EXPECT_EQ(sinks_[0]->errors()[0].message(), "failed");
  EXPECT_EQ(observer_.misses, 1);
  EXPECT_EQ(MemoryCache::Instance().inserts(), 0u);
}

TEST_P(ModelCacheTest, SeveralResponsesAreNotStored) {
  ASSERT_TRUE(Enqueue(NewRequest("abc")).ok());
  RequestPtr request = scheduler_.Take(0);
  auto& factory = *request->response_factory();
  factory.Send(factory.NewResponse().value(), false);
  factory.Send(factory.NewResponse().value(), true);
  ManualScheduler::Release(std::move(request));
  sinks_[0]->WaitUntilDone();
  EXPECT_EQ(sinks_[0]->responses().size(), 2u);
  EXPECT_EQ(MemoryCache::Instance().inserts(), 0u);
  EXPECT_EQ(observer_.misses, 1);
}

TEST_P(ModelCacheTest, RequestsOfSequencesBypassTheCache) {
  for (int i = 0; i < 2; ++i) {
    RequestPtr request = NewRequest("abc");
    request->correlation_id = uint64_t{5};
    ASSERT_TRUE(Enqueue(std::move(request)).ok());
    scheduler_.Answer(static_cast<size_t>(i));
    sinks_.back()->WaitUntilDone();
  }
  EXPECT_EQ(MemoryCache::Instance().lookups(), 0u);
  EXPECT_EQ(observer_.hits + observer_.misses, 0);
}

TEST_P(ModelCacheTest, RefusalsAreReturnedAndNotCounted) {
  scheduler_.refusal = Status::Unavailable("queue is full");
  RequestPtr request = NewRequest("abc");
  const Status status = Submit(request);
  if (blocks()) {
    EXPECT_TRUE(status.ok());
    sinks_[0]->WaitUntilDone();
    EXPECT_EQ(sinks_[0]->errors()[0].message(), "queue is full");
  } else {
    EXPECT_EQ(status.message(), "queue is full");
    ASSERT_NE(request, nullptr);
    EXPECT_EQ(request->response_factory()->shared_sink(), sinks_[0]);
    request->response_factory()->Disarm();
  }
  EXPECT_EQ(observer_.misses, 0);
}

TEST_P(ModelCacheTest, TheModelAnswersWhenTheCacheReturnsGarbage) {
  Fill("abc");
  const std::vector<std::function<std::string(std::string)>> distortions = {
      [](std::string) { return std::string("x"); },
      [](std::string blob) { return blob.substr(0, blob.size() - 1); },
      [](std::string blob) { return blob + "x"; },
      [](std::string blob) {
        blob[10] ^= 1;  // the digest
        return blob;
      },
      [](std::string blob) { return std::string(blob.size(), '\xff'); },
  };
  size_t index = 1;
  for (const auto& distortion : distortions) {
    MemoryCache::Instance().Distort(distortion);
    ASSERT_TRUE(Enqueue(NewRequest("abc")).ok());
    scheduler_.Answer(index);
    sinks_[index]->WaitUntilDone();
    EXPECT_TRUE(sinks_[index]->errors()[0].ok());
    EXPECT_EQ(BytesOf(*sinks_[index]), "abc");
    ++index;
  }
  EXPECT_EQ(observer_.hits, 0);
}

TEST_P(ModelCacheTest, AFailingCacheIsAMiss) {
  MemoryCache::Instance().Fail("lost");
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(Enqueue(NewRequest("abc")).ok());
    scheduler_.Answer(i);
    sinks_[i]->WaitUntilDone();
    EXPECT_EQ(BytesOf(*sinks_[i]), "abc");
  }
  MemoryCache::Instance().WaitForInserts(3);
  while (observer_.misses < 3) std::this_thread::yield();
  EXPECT_EQ(observer_.hits, 0);
}

TEST_P(ModelCacheTest, TheOrderIsKeptOverHitsAndMisses) {
  Fill("hit");
  scheduler_.order = std::make_shared<schedule::ResponseOrder>();
  for (const char* bytes : {"miss one", "hit", "miss two", "hit"}) {
    ASSERT_TRUE(Enqueue(NewRequest(bytes)).ok());
  }
  RequestPtr first = scheduler_.Take(1);
  scheduler_.Answer(2);  // the second miss is done before the first
  while (observer_.hits < 2) std::this_thread::yield();
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(sinks_[i]->finals(), 0u) << i;
  request::RefuseRequest(std::move(first), Status::Cancelled("gone"));
  for (size_t i = 1; i < 5; ++i) sinks_[i]->WaitUntilDone();
  EXPECT_EQ(sinks_[1]->errors()[0].message(), "gone");
  EXPECT_EQ(BytesOf(*sinks_[2]), "hit");
  EXPECT_EQ(BytesOf(*sinks_[3]), "miss two");
  EXPECT_EQ(BytesOf(*sinks_[4]), "hit");
  EXPECT_EQ(scheduler_.order->places(), 0u);
}

TEST_P(ModelCacheTest, ABusyCacheIsSkipped) {
  if (!blocks()) GTEST_SKIP() << "has no threads that could be busy";
  ResponseCache::Limits limits;
  limits.lookup_threads = 1;
  limits.waiting_lookups = 2;  // with the one that the thread is busy with
  Make(limits);
  MemoryCache& cache = MemoryCache::Instance();
  const size_t lookups = cache.lookups();
  cache.Hold();
  ASSERT_TRUE(Enqueue(NewRequest("is looked up")).ok());
  while (cache.lookups() == lookups) std::this_thread::yield();
  ASSERT_TRUE(Enqueue(NewRequest("waits")).ok());
  EXPECT_EQ(cache_->PendingCount(), 1u);
  ASSERT_TRUE(Enqueue(NewRequest("passes")).ok());
  scheduler_.Answer(0);
  sinks_[2]->WaitUntilDone();
  EXPECT_EQ(BytesOf(*sinks_[2]), "passes");
  EXPECT_EQ(observer_.misses, 0) << "it was not looked up";
  cache.Release();
  scheduler_.Answer(1);
  scheduler_.Answer(2);
  sinks_[0]->WaitUntilDone();
  sinks_[1]->WaitUntilDone();
  EXPECT_EQ(BytesOf(*sinks_[0]), "is looked up");
  EXPECT_EQ(BytesOf(*sinks_[1]), "waits");
  EXPECT_EQ(cache_->PendingCount(), 0u);
}

TEST_P(ModelCacheTest, ASmallRequestDoesNotOvertakeALargeOne) {
  scheduler_.order = std::make_shared<schedule::ResponseOrder>();
  RequestPtr large = NewRequest(std::string(1 << 20, 'x'));
  large->may_run_inline = true;
  ASSERT_TRUE(Enqueue(std::move(large)).ok());
  ASSERT_TRUE(Enqueue(NewRequest("small")).ok());
  scheduler_.Answer(1);
  EXPECT_EQ(sinks_[1]->finals(), 0u);
  scheduler_.Answer(0);
  for (size_t i = 0; i < 2; ++i) sinks_[i]->WaitUntilDone();
  EXPECT_EQ(BytesOf(*sinks_[1]), "small");
}

TEST_P(ModelCacheTest, ALargeRequestIsNotHashedOnALoop) {
  if (blocks()) GTEST_SKIP() << "nothing is done on a loop";
  MemoryCache::Instance().Hold();
  RequestPtr request = NewRequest(std::string(1 << 20, 'x'));
  request->may_run_inline = true;
  ASSERT_TRUE(Enqueue(std::move(request)).ok());  // would hang if the look-up ran on this thread
  MemoryCache::Instance().Release();
  scheduler_.Answer(0);
  sinks_[0]->WaitUntilDone();
}

}  // namespace
}  // namespace nereid::cache
