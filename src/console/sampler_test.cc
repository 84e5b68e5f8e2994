// SPDX-License-Identifier: Apache-2.0
#include "console/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "api/testing/fake_inference_service.h"
#include "base/log_tail.h"

namespace nereid::console {
namespace {

using frontend::http::ReplyStream;
using ::testing::HasSubstr;

constexpr uint64_t kTickNs = 1'000'000'000;

std::shared_ptr<ReplyStream> MakeViewer() {
  return std::make_shared<ReplyStream>(size_t{1} << 20, std::chrono::milliseconds(0),
                                       [](const std::shared_ptr<ReplyStream>&) {});
}

std::string EventsOf(ReplyStream& stream) {
  std::string text;
  for (const auto& piece : stream.Take().pieces) text += piece.text;
  return text;
}

class SamplerTest : public ::testing::Test {
 protected:
  SamplerTest() {
    service_.statistics.resize(1);
    service_.statistics[0].name = "m";
    service_.statistics[0].version = "1";
  }

  void Tick() {
    ++second_;
    service_.statistics[0].inference_stats.success.count += 5;
    sampler_.Tick(second_ * kTickNs, second_ * 1000, {.cpus = 0.25, .memory_bytes = 9});
  }

  api::testing::FakeInferenceService service_;
  SeriesStore series_;
  base::LogTail log_;
  Sampler sampler_{service_, series_, &log_};
  uint64_t second_ = 0;
};

TEST_F(SamplerTest, EachTickIsAPointAndAnEvent) {
  const auto viewer = MakeViewer();
  ASSERT_TRUE(sampler_.samples().Add(viewer, ""));
  Tick();
  Tick();
  ASSERT_EQ(series_.Of("m").size(), 1U);
  EXPECT_FLOAT_EQ(series_.Of("m")[0].seconds.back().requests, 5);
  const std::string events = EventsOf(*viewer);
  EXPECT_THAT(events, HasSubstr("event: sample\ndata: {\"time_ms\":1000,\"cpus\":0.25,"
                                "\"memory_bytes\":9,\"points\":[]}\n\n"));
  EXPECT_THAT(events, HasSubstr("\"point\":[2000,5,"));
}

TEST_F(SamplerTest, ViewersOfTheLogGetLinesThatAreNew) {
  log_.Add({.message = "before"}, 0);
  Tick();
  const auto viewer = MakeViewer();
  ASSERT_TRUE(sampler_.log_lines().Add(viewer, ""));
  Tick();
  EXPECT_EQ(EventsOf(*viewer), "");
  log_.Add({.message = "one"}, 0);
  log_.Add({.message = "two"}, 0);
  Tick();
  const std::string events = EventsOf(*viewer);
  EXPECT_THAT(events, HasSubstr("event: lines\ndata: {\"last\":3,\"lines\":[{\"number\":2,"));
  EXPECT_THAT(events, HasSubstr("two"));
  Tick();
  EXPECT_EQ(EventsOf(*viewer), "");
}

TEST_F(SamplerTest, StopEndsTheStreamsAndTheThread) {
  ASSERT_TRUE(sampler_.Start().ok());
  const auto viewer = MakeViewer();
  ASSERT_TRUE(sampler_.samples().Add(viewer, ""));
  sampler_.Stop();
  EXPECT_TRUE(viewer->Take().ended);
  sampler_.Stop();
}

}  // namespace
}  // namespace nereid::console
