// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/server_timing.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "request/inference_response.h"

namespace nereid::frontend::http {
namespace {

struct RecordingSink final : request::ResponseSink {
  void Send(std::unique_ptr<request::InferenceResponse>, bool final) noexcept override {
    final ? ++finals : ++others;
  }
  void RequestReleased(std::unique_ptr<request::InferenceRequest> request) noexcept override {
    released = std::move(request);
  }
  int finals = 0, others = 0;
  std::unique_ptr<request::InferenceRequest> released;
};

class ServerTimingTest : public ::testing::Test {
 protected:
  ServerTimingTest() : timing_(ServerTiming::Begin(*request_, &sink_)) {
    request_->times.start_ns = base::SteadyClock().NowNs();
    request_->compute_times->Add(1'000'000, 2'500'000, 40'000'000, 1'000);
  }

  const std::shared_ptr<RecordingSink> end_ = std::make_shared<RecordingSink>();
  std::shared_ptr<request::ResponseSink> sink_ = end_;
  std::unique_ptr<request::InferenceRequest> request_ =
      std::make_unique<request::InferenceRequest>();
  const std::shared_ptr<ServerTiming> timing_;
};

TEST_F(ServerTimingTest, TheFinalResponseWaitsForTheRelease) {
  sink_->Send(nullptr, false);
  sink_->Send(nullptr, true);
  EXPECT_EQ(end_->others, 1);
  EXPECT_EQ(end_->finals, 0);
  EXPECT_EQ(timing_->field(), "");
  sink_->RequestReleased(std::move(request_));
  EXPECT_EQ(end_->finals, 1);
  EXPECT_NE(end_->released, nullptr);
  EXPECT_NE(timing_->field(), "");
}

TEST_F(ServerTimingTest, AfterTheReleaseTheFinalResponseIsForwardedAtOnce) {
  sink_->RequestReleased(std::move(request_));
  EXPECT_EQ(end_->finals, 0);
  sink_->Send(nullptr, true);
  EXPECT_EQ(end_->finals, 1);
}

TEST_F(ServerTimingTest, TheFieldHasMilliseconds) {
  sink_->RequestReleased(std::move(request_));
  const std::string field = timing_->field();
  EXPECT_EQ(field.find("Server-Timing: total;dur="), 0u) << field;
  const std::string rest = field.substr(field.find(", "));
  EXPECT_EQ(rest,
            ", queue;dur=1.000, compute_input;dur=2.500, compute_infer;dur=40.000, "
            "compute_output;dur=0.001\r\n");
}

}  // namespace
}  // namespace nereid::frontend::http
