// SPDX-License-Identifier: Apache-2.0
#include "request/response_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"

namespace nereid::request {
namespace {

using ::testing::ElementsAre;

class ResponseQueueTest : public ::testing::Test {
 protected:
  ~ResponseQueueTest() override { factory_->Disarm(); }

  std::unique_ptr<InferenceResponse> Response(const std::string& text) {
    auto response = factory_->NewResponse().value();
    response->SetError(base::Status::Internal(text));
    return response;
  }
  /// Takes everything. "a" is a response, "a." one with the final flag, "." the flag alone.
  std::vector<std::string> TakeAll() {
    std::vector<std::string> all;
    while (!queue_.empty()) {
      const ResponseQueue::Event event = queue_.Pop();
      all.push_back((event.response == nullptr ? "" : event.response->error().message()) +
                    (event.final ? "." : ""));
    }
    return all;
  }

  const std::shared_ptr<ResponseFactory> factory_ =
      std::make_shared<ResponseFactory>(std::make_shared<RecordingSink>(), MakeModel("name: \"m\""),
                                        "", std::make_shared<Cancellation>());
  ResponseQueue queue_;
};

TEST_F(ResponseQueueTest, KeepsTheOrderAndTheFinalFlag) {
  EXPECT_TRUE(queue_.empty());
  queue_.Push({Response("a"), false});
  queue_.Push({Response("b"), false});
  EXPECT_EQ(queue_.size(), 2u);
  EXPECT_EQ(queue_.Pop().response->error().message(), "a");
  queue_.Push({Response("c"), true});
  EXPECT_THAT(TakeAll(), ElementsAre("b", "c."));
  EXPECT_EQ(queue_.size(), 0u);
}

TEST_F(ResponseQueueTest, AFlagAloneStaysAlone) {
  queue_.Push({Response("a"), false});
  queue_.Push({nullptr, false});
  queue_.Push({nullptr, true});
  EXPECT_THAT(TakeAll(), ElementsAre("a", "."));
  queue_.Push({nullptr, true});
  EXPECT_FALSE(queue_.empty());
  EXPECT_THAT(TakeAll(), ElementsAre("."));
}

TEST_F(ResponseQueueTest, ALongQueueIsDestroyedWithoutALongStack) {
  ResponseQueue queue;
  for (int i = 0; i < 200'000; ++i) queue.Push({factory_->NewResponse().value(), false});
  EXPECT_EQ(queue.size(), 200'000u);
}

}  // namespace
}  // namespace nereid::request
