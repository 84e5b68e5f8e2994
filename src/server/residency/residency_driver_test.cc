// SPDX-License-Identifier: Apache-2.0
#include "server/residency/residency_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "request/binding.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"

namespace nereid::server {
namespace {

using base::Status;
using base::StatusCode;
using ::testing::HasSubstr;
using RequestPtr = std::unique_ptr<request::InferenceRequest>;

constexpr uint64_t kSecond = 1'000'000'000;

/// Models "a", "b" and "c" of 100 bytes each. A load of "held" waits for Release().
class FakeWork final : public ResidencyWork {
 public:
  Status LoadModel(const std::string& model) override {
    {
      base::MutexLock lock(mutex_);
      log_.push_back("load " + model);
      changed_.NotifyAll();
      while (model == "held" && !is_released_) changed_.Wait(lock);
    }
    if (model == "bad") return Status::InvalidArgument("it is bad");
    driver_->Hold(model, {100, 1, 100});
    return Status::Ok();
  }
  void EvictModel(const std::string& model) override {
    {
      const base::MutexLock lock(mutex_);
      log_.push_back("evict " + model);
    }
    driver_->Hold(model, {0, 0, 0});
  }
  std::shared_ptr<ModelGate> FindGate(const std::string& model) const override {
    const base::MutexLock lock(mutex_);
    auto& gate = gates_[model];
    if (gate == nullptr) gate = std::make_shared<ModelGate>();
    return gate;
  }
  ModelUses ReadUses() const override {
    ModelUses uses;
    const base::MutexLock lock(mutex_);
    for (const auto& [model, gate] : gates_) {
      uses[model] = {gate->last_used_ns(), gate->IsEntered(), false};
    }
    return uses;
  }
  Status SubmitNow(RequestPtr& request, ServerPhase::Value) override {
    if (refuses) return Status::InvalidArgument("no such input");
    request::BindRequest(*request, request::MakeModel("name: \"" + request->model_name + "\""));
    request->response_factory()->SendError(Status::Unknown("served"));
    request::ReleaseRequest(std::move(request));
    return Status::Ok();
  }

  void Release() {
    const base::MutexLock lock(mutex_);
    is_released_ = true;
    changed_.NotifyAll();
  }
  void WaitForLoads(size_t count) {
    base::MutexLock lock(mutex_);
    while (log_.size() < count) changed_.Wait(lock);
  }
  std::vector<std::string> log() const {
    const base::MutexLock lock(mutex_);
    return log_;
  }
  void Serve(ResidencyDriver* driver) { driver_ = driver; }

  std::atomic<bool> refuses{false};

 private:
  ResidencyDriver* driver_ = nullptr;
  mutable base::Mutex mutex_;
  base::ConditionVariable changed_;
  bool is_released_ NEREID_GUARDED_BY(mutex_) = false;
  std::vector<std::string> log_ NEREID_GUARDED_BY(mutex_);
  mutable std::map<std::string, std::shared_ptr<ModelGate>> gates_ NEREID_GUARDED_BY(mutex_);
};

class ResidencyDriverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    work_.Serve(&driver_);
    for (const char* const model : {"a", "b", "c", "bad", "held"}) {
      driver_.Know(model, {.expected_bytes = 100, .is_pinned = false, .members = {}});
    }
    ASSERT_TRUE(driver_.Start().ok());
  }
  void TearDown() override {
    work_.Release();
    driver_.Stop();
    sink_->Clear();
  }

  static ResidencyPlanner::Settings Settings() {
    ResidencyPlanner::Settings settings;
    settings.budget_bytes = 250;
    settings.max_wait_ns = 10 * kSecond;
    settings.line.requests = 2;
    return settings;
  }
  RequestPtr MakeRequest(const std::string& model) const {
    auto request = std::make_unique<request::InferenceRequest>();
    request->model_name = model;
    request->id = "7";
    request->SetSink(sink_);
    return request;
  }
  Status Send(const std::string& model) {
    RequestPtr request = MakeRequest(model);
    return driver_.Wait(request, ServerPhase::Value::kEnding);
  }
  /// Waits for the answers of this number of requests, and returns the last one.
  Status Answer(size_t requests = 1) {
    sink_->WaitUntilDone(requests);
    return sink_->errors().back();
  }

  base::FakeClock clock_{100 * kSecond};
  FakeWork work_;
  const std::shared_ptr<request::RecordingSink> sink_ = std::make_shared<request::RecordingSink>();
  ResidencyDriver driver_{Settings(), work_, clock_};
};

TEST_F(ResidencyDriverTest, ARequestIsSubmittedAfterTheLoad) {
  ASSERT_TRUE(Send("a").ok());
  EXPECT_EQ(Answer().message(), "served");
  EXPECT_THAT(work_.log(), ::testing::ElementsAre("load a"));
  EXPECT_TRUE(driver_.IsResident("a"));
  EXPECT_EQ(driver_.Numbers().waits, 1u);
  EXPECT_EQ(driver_.Numbers().held_bytes, 100u);
}

TEST_F(ResidencyDriverTest, AQuestionKeepsItsModelInMemory) {
  {
    auto pass = driver_.Await("a");
    ASSERT_TRUE(pass.ok());
    EXPECT_TRUE(work_.FindGate("a")->IsEntered());
  }
  EXPECT_FALSE(work_.FindGate("a")->IsEntered());
}

TEST_F(ResidencyDriverTest, ModelsMakeRoomForOthers) {
  for (const char* const model : {"a", "b", "c", "a"}) {
    clock_.Advance(kSecond);
    ASSERT_TRUE(driver_.Await(model).ok()) << model;
  }
  EXPECT_EQ(driver_.Numbers().loads, 4u);
  EXPECT_EQ(driver_.Numbers().evictions, 2u);
  EXPECT_LE(driver_.Numbers().held_bytes, 250u);
}

TEST_F(ResidencyDriverTest, AFailedLoadIsTheAnswerAndTheNextRequestIsRefusedAtOnce) {
  ASSERT_TRUE(Send("bad").ok());
  const Status answer = Answer();
  EXPECT_EQ(answer.code(), StatusCode::kUnavailable);
  EXPECT_THAT(answer.message(), HasSubstr("it is bad"));
  EXPECT_EQ(Send("bad").code(), StatusCode::kUnavailable);
  EXPECT_EQ(driver_.LoadFor("bad", {}).code(), StatusCode::kInvalidArgument)
      << "a client that loads a model gets the error itself";
  EXPECT_EQ(driver_.Numbers().failed_loads, 2u);
}

TEST_F(ResidencyDriverTest, ARequestThatItsModelRefusesGetsTheRefusal) {
  work_.refuses = true;
  ASSERT_TRUE(Send("a").ok());
  EXPECT_EQ(Answer().message(), "no such input");
}

TEST_F(ResidencyDriverTest, TheQueueIsBounded) {
  ASSERT_TRUE(Send("held").ok());
  ASSERT_TRUE(Send("held").ok());
  const Status refused = Send("a");
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
  EXPECT_THAT(refused.message(), HasSubstr("--model-wait-queue-size"));
  EXPECT_EQ(driver_.Numbers().refusals, 1u);
  work_.Release();
  EXPECT_EQ(Answer(2).message(), "served");
}

TEST_F(ResidencyDriverTest, TheWaitIsBounded) {
  ASSERT_TRUE(Send("held").ok());
  work_.WaitForLoads(1);
  clock_.Advance(10 * kSecond);
  EXPECT_THAT(Answer().message(), HasSubstr("was not in memory after 10 s"));
  EXPECT_EQ(driver_.Numbers().waiting, 0u);
}

TEST_F(ResidencyDriverTest, TheDeadlineAndTheTimeoutOfARequestEndItsWait) {
  RequestPtr request = MakeRequest("held");
  request->deadline_ns = clock_.NowNs() + kSecond;
  ASSERT_TRUE(driver_.Wait(request, ServerPhase::Value::kEnding).ok());
  work_.WaitForLoads(1);
  clock_.Advance(kSecond);
  EXPECT_EQ(Answer().code(), StatusCode::kUnavailable);
  request = MakeRequest("held");
  request->timeout_us = 2'000'000;
  ASSERT_TRUE(driver_.Wait(request, ServerPhase::Value::kEnding).ok());
  clock_.Advance(2 * kSecond);
  EXPECT_THAT(Answer(2).message(), HasSubstr("after 2 s"));
}

TEST_F(ResidencyDriverTest, ACancelledRequestStopsWaiting) {
  RequestPtr request = MakeRequest("held");
  const auto cancellation = request->cancellation();
  ASSERT_TRUE(driver_.Wait(request, ServerPhase::Value::kEnding).ok());
  cancellation->Cancel();
  const Status answer = Answer();
  EXPECT_EQ(answer.code(), StatusCode::kCancelled);
  EXPECT_EQ(answer.message(), "[request id: 7] Request was cancelled");
}

TEST_F(ResidencyDriverTest, AnAbandonedLoadIsGivenUpUnlessItHasBegun) {
  ASSERT_TRUE(Send("held").ok());
  work_.WaitForLoads(1);
  EXPECT_EQ(driver_.LoadFor("a", [] { return true; }).code(), StatusCode::kCancelled);
  EXPECT_FALSE(driver_.IsResident("a"));
}

TEST_F(ResidencyDriverTest, AStopRefusesAllThatWait) {
  ASSERT_TRUE(Send("held").ok());
  ASSERT_TRUE(Send("a").ok());
  driver_.BeginStop();
  EXPECT_EQ(Answer(2).code(), StatusCode::kUnavailable);
  EXPECT_EQ(Send("a").code(), StatusCode::kUnavailable);
  EXPECT_EQ(driver_.LoadFor("a", {}).code(), StatusCode::kUnavailable);
}

TEST_F(ResidencyDriverTest, AForgottenModelRefusesTheRequestsThatWaitForIt) {
  ASSERT_TRUE(Send("held").ok());
  work_.WaitForLoads(1);
  ASSERT_TRUE(Send("a").ok());
  driver_.Forget("a", Status::Unavailable("it was unloaded"));
  EXPECT_EQ(Answer().message(), "it was unloaded");
}

}  // namespace
}  // namespace nereid::server
