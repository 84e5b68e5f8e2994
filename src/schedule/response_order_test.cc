// SPDX-License-Identifier: Apache-2.0
#include "schedule/response_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/testing/failing_allocation.h"
#include "request/binding.h"
#include "request/testing/make_model.h"

namespace nereid::schedule {
namespace {

using ::testing::ElementsAre;

/// The order in which responses reach the front ends: "a" for a partial one of a, "a." with final.
class Arrivals {
 public:
  void Add(std::string what) {
    std::lock_guard lock(mutex_);
    all_.push_back(std::move(what));
  }
  std::vector<std::string> all() const {
    std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;  // guarded by mutex_
};

class NamedSink : public request::ResponseSink {
 public:
  NamedSink(std::string name, Arrivals& arrivals) : name_(std::move(name)), arrivals_(arrivals) {}
  void Send(std::unique_ptr<request::InferenceResponse>, bool final) noexcept override {
    arrivals_.Add(name_ + (final ? "." : ""));
  }

 private:
  const std::string name_;
  Arrivals& arrivals_;
};

class ResponseOrderTest : public ::testing::Test {
 protected:
  std::shared_ptr<request::ResponseFactory> Reserve(const std::string& name) {
    auto factory = std::make_shared<request::ResponseFactory>(
        std::make_shared<NamedSink>(name, arrivals_), model_, name,
        std::make_shared<request::Cancellation>());
    order_->Reserve(*factory);
    return factory;
  }
  static void SendPartial(request::ResponseFactory& factory) {
    factory.Send(factory.NewResponse().value(), false);
  }

  Arrivals arrivals_;
  std::shared_ptr<const request::ModelIdentity> model_ = request::MakeModel("name: \"m\"");
  std::shared_ptr<ResponseOrder> order_ = std::make_shared<ResponseOrder>();
};

TEST_F(ResponseOrderTest, WhoFinishesEarlyWaits) {
  auto a = Reserve("a"), b = Reserve("b"), c = Reserve("c");
  c->SendFinal();
  b->SendError(base::Status::Internal("b failed"));
  EXPECT_THAT(arrivals_.all(), ElementsAre());
  a->SendFinal();
  EXPECT_THAT(arrivals_.all(), ElementsAre("a.", "b.", "c."));
  EXPECT_EQ(order_->places(), 0u);
}

TEST_F(ResponseOrderTest, TheFrontStreamsThrough) {
  auto a = Reserve("a"), b = Reserve("b");
  SendPartial(*a);
  SendPartial(*b);
  EXPECT_THAT(arrivals_.all(), ElementsAre("a"));
  SendPartial(*a);
  a->SendFinal();
  EXPECT_THAT(arrivals_.all(), ElementsAre("a", "a", "a.", "b"));
  SendPartial(*b);
  b->SendFinal();
  EXPECT_THAT(arrivals_.all(), ElementsAre("a", "a", "a.", "b", "b", "b."));
}

TEST_F(ResponseOrderTest, ARefusalIsAnsweredAtOnceAndLetsOthersPass) {
  auto a = Reserve("a"), b = Reserve("b"), c = Reserve("c");
  c->SendFinal();
  order_->Withdraw(*b);
  b->SendError(base::Status::Unavailable("too late"));
  EXPECT_THAT(arrivals_.all(), ElementsAre("b."));
  order_->Withdraw(*a);  // the last thing that c waited for
  EXPECT_THAT(arrivals_.all(), ElementsAre("b.", "c."));
  a->SendFinal();
  EXPECT_THAT(arrivals_.all(), ElementsAre("b.", "c.", "a."));
  EXPECT_EQ(order_->places(), 0u);
}

TEST_F(ResponseOrderTest, ARequestThatVanishesHoldsNobodyUp) {
  auto a = Reserve("a"), b = Reserve("b"), c = Reserve("c");
  c->SendFinal();
  b->Disarm();  // refused at submission: no response will ever be sent
  b.reset();
  a.reset();  // its factory answers by itself
  EXPECT_THAT(arrivals_.all(), ElementsAre("a.", "c."));
  EXPECT_EQ(order_->places(), 0u);
}

TEST_F(ResponseOrderTest, ManyThreadsKeepTheOrder) {
  constexpr int kRequests = 400;
  std::vector<std::shared_ptr<request::ResponseFactory>> factories;
  std::vector<std::string> expected;
  for (int i = 0; i < kRequests; ++i) {
    factories.push_back(Reserve(std::to_string(i)));
    expected.push_back(std::to_string(i) + ".");
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = kRequests - 1 - t; i >= 0; i -= 4)
        factories[static_cast<size_t>(i)]->SendFinal();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(arrivals_.all(), expected);
}

/// Keeps the errors of the responses that it gets.
class ErrorSink : public request::ResponseSink {
 public:
  void Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept override {
    if (response != nullptr) errors.push_back(response->error().message() + (final ? "." : ""));
  }
  std::vector<std::string> errors;
};

TEST_F(ResponseOrderTest, AResponseThatWaitsNeedsNoMemory) {
  const auto sink = std::make_shared<ErrorSink>();
  auto a = Reserve("a");
  auto b = std::make_shared<request::ResponseFactory>(sink, model_, "b",
                                                      std::make_shared<request::Cancellation>());
  order_->Reserve(*b);
  auto response = b->NewResponse().value();
  {
    const base::testing::FailingAllocation failure(
        0, base::testing::FailingAllocation::Extent::kAllAfter);
    b->Send(std::move(response), false);
  }
  SendPartial(*b);
  b->SendError(base::Status::Internal("the end"));
  EXPECT_THAT(sink->errors, ElementsAre());
  a->SendFinal();
  EXPECT_THAT(sink->errors, ElementsAre("", "", "the end."));
  EXPECT_EQ(order_->places(), 0u);
}

TEST_F(ResponseOrderTest, AFinalResponseNeedsNoMemory) {
  const auto sink = std::make_shared<ErrorSink>();
  auto a = Reserve("a");
  auto b = std::make_shared<request::ResponseFactory>(sink, model_, "b",
                                                      std::make_shared<request::Cancellation>());
  order_->Reserve(*b);
  auto response = b->NewResponse().value();
  {
    const base::testing::FailingAllocation failure(
        0, base::testing::FailingAllocation::Extent::kAllAfter);
    b->Send(std::move(response), true);
  }
  a->SendFinal();
  EXPECT_THAT(sink->errors, ElementsAre("."));
}

/// Tells when the responses of traced requests are recorded.
class RecordedResponses final : public request::TraceListener {
 public:
  RecordedResponses(std::string name, Arrivals& arrivals)
      : name_(std::move(name)), arrivals_(arrivals) {}
  void OnActivity(request::Trace&, request::TraceActivity, uint64_t) noexcept override {}
  void OnCustomActivity(request::Trace&, std::string_view, uint64_t) noexcept override {}
  void OnTensor(request::Trace&, request::TraceActivity,
                const request::TracedTensor&) noexcept override {}
  void OnResponse(request::Trace&, uint64_t) noexcept override { arrivals_.Add(name_); }
  void OnReleased(std::unique_ptr<request::Trace>) noexcept override {}

 private:
  const std::string name_;
  Arrivals& arrivals_;
};

TEST_F(ResponseOrderTest, ATraceRecordsAResponseWhenItMayGo) {
  std::vector<std::unique_ptr<request::InferenceRequest>> requests;
  for (const char* const name : {"a", "b"}) {
    auto& made = requests.emplace_back(std::make_unique<request::InferenceRequest>());
    made->SetSink(std::make_shared<NamedSink>(name, arrivals_));
    made->SetTrace(request::ShareTrace(std::make_unique<request::Trace>(
        std::make_shared<RecordedResponses>(std::string("trace of ") + name, arrivals_),
        request::kTraceTimestamps, 0)));
    request::BindRequest(*made, model_);
    order_->Reserve(*made->response_factory());
  }
  requests[1]->response_factory()->SendFinal();
  EXPECT_THAT(arrivals_.all(), ElementsAre()) << "b waits for a";
  requests[0]->response_factory()->SendFinal();
  EXPECT_THAT(arrivals_.all(), ElementsAre("trace of a", "a.", "trace of b", "b."));
}

}  // namespace
}  // namespace nereid::schedule
