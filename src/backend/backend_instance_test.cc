// SPDX-License-Identifier: Apache-2.0
// Whom BackendInstance answers after a failed Execute, and which requests it must not touch.
#include "backend/backend_instance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "abi/error.h"
#include "abi/handle.h"
#include "backend/backend_library.h"
#include "base/byte_budget.h"
#include "request/binding.h"
#include "request/release_listener.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"

namespace nereid::backend {
namespace {

using base::Status;
using request::RecordingSink;
using ::testing::ElementsAre;
using RequestPtr = std::unique_ptr<request::InferenceRequest>;
using Handles = std::vector<TRITONBACKEND_Request*>;

/// What the backend does in Execute.
using Script = std::function<TRITONSERVER_Error*(const Handles& requests)>;

TRITONSERVER_Error* Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
                            const uint32_t count) {
  return (*static_cast<Script*>(BackendInstance::From(instance)->state))(
      {requests, requests + count});
}

std::shared_ptr<Backend> MakeBackend() {
  BackendEntryPoints entry;
  entry.instance_execute = Execute;
  entry.instance_ready = [](TRITONBACKEND_ModelInstance*) -> TRITONSERVER_Error* {
    return nullptr;
  };
  return Backend::Create("fake", BackendLibrary::FromEntryPoints("/built-in/fake", entry), "{}")
      .value();
}

BackendModel::Description Model() {
  BackendModel::Description description;
  description.name = "m";
  return description;
}

BackendInstance::Description Instance(std::string name) {
  BackendInstance::Description description;
  description.name = std::move(name);
  return description;
}

class CountingObserver final : public StatisticsObserver {
 public:
  void OnRequest(const request::InferenceRequest&, bool success, const ExecutionTimes&) override {
    if (!success) ++failures;
  }
  void OnBatch(uint64_t, const ExecutionTimes&) override {}
  void OnResponse(const ResponseTimes&) override {}
  void OnMemoryUsage(const std::vector<memory::BufferAttributes>&) override {}

  int failures = 0;
};

/// Hands a rescheduled request out again before Reschedule returns, as a scheduler may do whose
/// other instance is idle.
class EagerQueue final : public request::ReleaseListener {
 public:
  void OnReleased(request::InferenceRequest&) noexcept override {}
  Status Reschedule(RequestPtr& request) noexcept override {
    request->response_factory()->MarkRescheduled();
    request->release_listener = nullptr;
    take(std::move(request));
    return Status::Ok();
  }
  void HandOut(RequestPtr request, BackendInstance& instance) {
    request->response_factory()->MarkHandedOut();
    request->release_listener = this;
    std::vector<RequestPtr> batch;
    batch.push_back(std::move(request));
    instance.Execute(std::move(batch));
  }

  std::function<void(RequestPtr request)> take;
};

// The calls of a plug-in. They return the text of the error.

std::string Release(TRITONBACKEND_Request* request, uint32_t flags) {
  return abi::TakeStatus(TRITONBACKEND_RequestRelease(request, flags)).message();
}
std::string Finish(TRITONBACKEND_Request* request) {
  return Release(request, TRITONSERVER_REQUEST_RELEASE_ALL);
}
std::string Reschedule(TRITONBACKEND_Request* request) {
  return Release(request, TRITONSERVER_REQUEST_RELEASE_RESCHEDULE);
}
TRITONBACKEND_Response* NewResponse(TRITONBACKEND_Request* request) {
  TRITONBACKEND_Response* response = nullptr;
  EXPECT_EQ(TRITONBACKEND_ResponseNew(&response, request), nullptr);
  return response;
}
void SendFinal(TRITONBACKEND_Response* response) {
  EXPECT_EQ(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, nullptr),
            nullptr);
}
TRITONSERVER_Error* Fail(const char* text) {
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, text);
}

class BackendInstanceTest : public ::testing::Test {
 protected:
  BackendInstanceTest() {
    first_.state = &first_script_;
    second_.state = &second_script_;
    queue_.take = [this](RequestPtr request) { queue_.HandOut(std::move(request), second_); };
    first_script_ = [](const Handles& requests) {
      EXPECT_EQ(Reschedule(requests.at(0)), "");
      return Fail("first failed");
    };
  }
  ~BackendInstanceTest() override { sink_->Clear(); }

  RequestPtr NewRequest(std::shared_ptr<RecordingSink> sink) {
    auto request = std::make_unique<request::InferenceRequest>();
    request->SetSink(std::move(sink));
    request::BindRequest(*request, identity_);
    request->release_listener = &queue_;
    return request;
  }
  /// Executes one request in the first instance, which reschedules it and fails.
  void RunFirst() { queue_.HandOut(NewRequest(sink_), first_); }

  std::vector<std::string> Errors() const {
    std::vector<std::string> texts;
    for (const Status& error : sink_->errors()) texts.push_back(error.message());
    return texts;
  }

  const std::shared_ptr<const request::ModelIdentity> identity_ =
      request::MakeModel(R"(name: "m" max_batch_size: 4)");
  const std::shared_ptr<RecordingSink> sink_ = std::make_shared<RecordingSink>();
  CountingObserver observer_;
  EagerQueue queue_;
  Script first_script_, second_script_;
  BackendModel model_{MakeBackend(), Model(), "{}"};
  BackendInstance first_{model_, Instance("m_0"), observer_};
  BackendInstance second_{model_, Instance("m_1"), observer_};
};

// The readiness of a plug-in may take long, so a thread that serves many clients must not ask for
// it.
TEST_F(BackendInstanceTest, AnEventLoopDoesNotAskWhetherItIsReady) {
  EXPECT_TRUE(first_.CheckReady().ok());
  Status on_loop, in_execution;
  first_script_ = [&](const Handles& requests) {
    in_execution = second_.CheckReady();
    SendFinal(NewResponse(requests.at(0)));
    EXPECT_EQ(Finish(requests.at(0)), "");
    return nullptr;
  };
  std::thread loop([&] {
    base::ForbidBlocking();
    on_loop = first_.CheckReady();
    RunFirst();
  });
  loop.join();
  EXPECT_EQ(on_loop.message(),
            "instance 'm_0' cannot be asked on an event loop whether it is ready");
  EXPECT_TRUE(in_execution.ok()) << "a plug-in that runs on a loop may ask";
}

TEST_F(BackendInstanceTest, ARescheduledRequestThatAnotherInstanceHasIsLeftAlone) {
  TRITONBACKEND_Request* held = nullptr;
  second_script_ = [&](const Handles& requests) {
    held = requests.at(0);  // answered after Execute
    return nullptr;
  };
  RunFirst();
  ASSERT_NE(held, nullptr);
  ASSERT_EQ(sink_->finals(), 0u) << "answered by the first execution";
  ASSERT_EQ(sink_->released(), 0u) << "refused by the first execution";
  SendFinal(NewResponse(held));
  EXPECT_EQ(Finish(held), "");
  EXPECT_THAT(Errors(), ElementsAre(""));
  EXPECT_EQ(sink_->finals(), 1u);
  EXPECT_EQ(sink_->released(), 1u);
  EXPECT_EQ(observer_.failures, 0);
}

TEST_F(BackendInstanceTest, ARescheduledRequestThatIsGoneGetsTheResponseOfItsLastExecution) {
  TRITONBACKEND_Response* response = nullptr;
  second_script_ = [&](const Handles& requests) {
    response = NewResponse(requests.at(0));  // sent after Execute
    EXPECT_EQ(Finish(requests.at(0)), "");
    sink_->released_requests().clear();  // the front end destroys the request
    return nullptr;
  };
  RunFirst();
  ASSERT_NE(response, nullptr);
  ASSERT_EQ(sink_->finals(), 0u) << "answered by the first execution";
  SendFinal(response);
  EXPECT_THAT(Errors(), ElementsAre(""));
  EXPECT_EQ(sink_->finals(), 1u);
  EXPECT_EQ(observer_.failures, 0);
}

TEST_F(BackendInstanceTest, ARescheduledRequestThatIsAnsweredAndGoneIsLeftAlone) {
  second_script_ = [&](const Handles& requests) {
    SendFinal(NewResponse(requests.at(0)));
    EXPECT_EQ(Finish(requests.at(0)), "");
    sink_->released_requests().clear();
    return nullptr;
  };
  RunFirst();
  EXPECT_THAT(Errors(), ElementsAre(""));
  EXPECT_EQ(sink_->finals(), 1u);
  EXPECT_EQ(observer_.failures, 0);
}

TEST_F(BackendInstanceTest, ARescheduledRequestThatFailsAgainIsRefusedOnce) {
  second_script_ = [](const Handles&) { return Fail("second failed"); };
  RunFirst();
  EXPECT_THAT(Errors(), ElementsAre("second failed"));
  EXPECT_EQ(sink_->finals(), 1u);
  EXPECT_EQ(sink_->released(), 1u);
  EXPECT_EQ(observer_.failures, 1);
}

TEST_F(BackendInstanceTest, ARescheduledRequestThatWaitsIsLeftToItsQueue) {
  RequestPtr waiting;
  queue_.take = [&](RequestPtr request) { waiting = std::move(request); };
  RunFirst();
  ASSERT_NE(waiting, nullptr);
  ASSERT_EQ(sink_->finals(), 0u);
  request::RefuseRequest(std::move(waiting), Status::Unavailable("waited too long"));
  EXPECT_THAT(Errors(), ElementsAre("waited too long"));
  EXPECT_EQ(sink_->released(), 1u);

  // The same, if it is refused while the first execution runs.
  queue_.take = [](RequestPtr request) {
    request::RefuseRequest(std::move(request), Status::Unavailable("no longer"));
  };
  RunFirst();
  EXPECT_THAT(Errors(), ElementsAre("waited too long", "no longer"));
  EXPECT_EQ(sink_->finals(), 2u);
  EXPECT_EQ(sink_->released(), 2u);
  EXPECT_EQ(observer_.failures, 0);
}

TEST_F(BackendInstanceTest, AfterAFailureTheOthersOfTheBatchAreAnswered) {
  TRITONBACKEND_Request* held = nullptr;
  second_script_ = [&](const Handles& requests) {
    held = requests.at(0);
    return nullptr;
  };
  first_script_ = [](const Handles& requests) {
    EXPECT_EQ(Reschedule(requests.at(0)), "");
    SendFinal(NewResponse(requests.at(1)));
    EXPECT_EQ(Finish(requests.at(1)), "");
    EXPECT_EQ(Finish(requests.at(2)), "");  // without a response
    return Fail("first failed");            // still has the last one
  };
  std::vector<RequestPtr> batch;
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  for (int i = 0; i < 4; ++i) {
    sinks.push_back(std::make_shared<RecordingSink>());
    batch.push_back(NewRequest(sinks.back()));
  }
  first_.Execute(std::move(batch));
  EXPECT_EQ(sinks[0]->released(), 0u);
  if (sinks[0]->released() == 0) {
    SendFinal(NewResponse(held));
    EXPECT_EQ(Finish(held), "");
  }
  const std::vector<std::string> expected = {"", "", "first failed", "first failed"};
  for (size_t i = 0; i < sinks.size(); ++i) {
    EXPECT_EQ(sinks[i]->finals(), 1u) << i;
    EXPECT_EQ(sinks[i]->released(), 1u) << i;
    ASSERT_EQ(sinks[i]->errors().size(), 1u) << i;
    EXPECT_EQ(sinks[i]->errors()[0].message(), expected[i]) << i;
    sinks[i]->Clear();
  }
  EXPECT_EQ(observer_.failures, 1);
}

}  // namespace
}  // namespace nereid::backend
