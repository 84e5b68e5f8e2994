// SPDX-License-Identifier: Apache-2.0
#include "model/first_response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "request/binding.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"
#include "request/trace.h"

namespace nereid::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kMs = 1'000'000;

std::vector<double> BucketsOf(const std::string& metrics) {
  return FirstResponseBuckets(*request::MakeModel("name: \"m\" backend: \"b\" " + metrics)->config);
}

std::string Control(const std::string& family, const std::string& buckets) {
  return "metric_control { metric_identifier { family: \"" + family +
         "\" } histogram_options { buckets: [ " + buckets + " ] } } ";
}

TEST(FirstResponseBucketsTest, TheConfigurationChooses) {
  const std::string family = "nv_inference_first_response_histogram_ms";
  EXPECT_THAT(BucketsOf(""), ElementsAre(100, 500, 2000, 5000));
  EXPECT_THAT(BucketsOf("model_metrics { " + Control(family, "0.5, 20") + "}"),
              ElementsAre(0.5, 20));
  EXPECT_THAT(BucketsOf("model_metrics { " + Control("another", "1") + "}"),
              ElementsAre(100, 500, 2000, 5000));
  EXPECT_THAT(BucketsOf("model_metrics { " + Control(family, "1") + Control(family, "2, inf") +
                        Control("another", "3") + "}"),
              ElementsAre(2));
  EXPECT_THAT(BucketsOf("model_metrics { " + Control(family, "inf") + "}"), IsEmpty());
}

TEST(FirstResponseBucketsTest, BucketsThatDoNotAscendCountAsNone) {
  const std::string family = "nv_inference_first_response_histogram_ms";
  for (const char* buckets : {"5, 1", "1, 1", "nan", "1, nan, 2"}) {
    EXPECT_THAT(BucketsOf("model_metrics { " + Control(family, buckets) + "}"),
                ElementsAre(100, 500, 2000, 5000))
        << buckets;
  }
}

class FirstResponseTest : public ::testing::Test {
 protected:
  ~FirstResponseTest() override { sink_->Clear(); }

  /// A request of this moment that is watched.
  std::unique_ptr<request::InferenceRequest> Watched(
      const std::function<void(request::InferenceRequest&)>& prepare = nullptr) {
    auto request = std::make_unique<request::InferenceRequest>();
    if (prepare) prepare(*request);
    request->SetSink(sink_);
    request::BindRequest(*request, model_);
    request->times.start_ns = clock_.NowNs();
    times_->Watch(*request);
    return request;
  }
  static void Answer(request::InferenceRequest& request, bool final) {
    auto& factory = *request.response_factory();
    factory.Send(factory.NewResponse().value(), final);
  }

  base::FakeClock clock_;
  std::shared_ptr<request::RecordingSink> sink_ = std::make_shared<request::RecordingSink>();
  std::shared_ptr<const request::ModelIdentity> model_ = request::MakeModel("name: \"m\"");
  std::unique_ptr<FirstResponseTimes> times_ =
      std::make_unique<FirstResponseTimes>(clock_, std::vector<double>{1, 10});
};

/// A listener whose traces another system knows.
class GlobalTraces final : public request::TraceListener {
 public:
  void OnActivity(request::Trace& /*trace*/, request::TraceActivity /*activity*/,
                  uint64_t /*time_ns*/) noexcept override {}
  void OnCustomActivity(request::Trace& /*trace*/, std::string_view /*name*/,
                        uint64_t /*time_ns*/) noexcept override {}
  void OnTensor(request::Trace& /*trace*/, request::TraceActivity /*activity*/,
                const request::TracedTensor& /*tensor*/) noexcept override {}
  void OnReleased(std::unique_ptr<request::Trace> /*trace*/) noexcept override {}
  std::string GlobalTraceId() const override { return "0af7651916cd43dd8448eb211c80319c"; }
};

TEST_F(FirstResponseTest, ATracedRequestIsAnExemplar) {
  const auto request = Watched([](request::InferenceRequest& fresh) {
    fresh.SetTrace(request::ShareTrace(std::make_unique<request::Trace>(
        std::make_shared<GlobalTraces>(), request::kTraceTimestamps, 0)));
  });
  clock_.Advance(7 * kMs);
  Answer(*request, false);
  Answer(*request, true);
  const auto exemplars = times_->Snapshot().exemplars;
  ASSERT_EQ(exemplars.size(), 3U);
  EXPECT_TRUE(exemplars[0].empty());
  EXPECT_EQ(exemplars[1].trace_id, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(exemplars[1].value, 7);
  EXPECT_EQ(exemplars[1].wall_ms, clock_.WallMs());
  EXPECT_TRUE(exemplars[2].empty());
}

TEST_F(FirstResponseTest, CountsTheFirstResponseInWholeMilliseconds) {
  const auto request = Watched();
  clock_.Advance(1 * kMs + 999'999);
  Answer(*request, false);
  clock_.Advance(100 * kMs);
  Answer(*request, false);
  Answer(*request, true);
  EXPECT_EQ(sink_->responses().size(), 3u) << "everything is passed on";
  EXPECT_EQ(sink_->finals(), 1u);
  const auto snapshot = times_->Snapshot();
  EXPECT_THAT(snapshot.counts, ElementsAre(1, 0, 0));
  EXPECT_EQ(snapshot.sum, 1);
}

TEST_F(FirstResponseTest, EachRequestHasASample) {
  for (const uint64_t ms : {0, 2, 10, 11}) {
    const auto request = Watched();
    clock_.Advance(ms * kMs);
    Answer(*request, true);
  }
  const auto snapshot = times_->Snapshot();
  EXPECT_THAT(snapshot.counts, ElementsAre(1, 2, 1));
  EXPECT_EQ(snapshot.sum, 23);
}

TEST_F(FirstResponseTest, AnErrorIsAResponse) {
  const auto request = Watched();
  clock_.Advance(2 * kMs);
  request->response_factory()->SendError(base::Status::Internal("no"));
  EXPECT_THAT(times_->Snapshot().counts, ElementsAre(0, 1, 0));
}

TEST_F(FirstResponseTest, ARequestWithoutAResponseLeavesNoSample) {
  Watched()->response_factory()->SendFinal();
  auto refused = Watched();
  refused->response_factory()->Disarm();
  refused->Unbind();
  EXPECT_EQ(sink_->finals(), 1u);
  EXPECT_EQ(times_->Snapshot().TotalCount(), 0u);
}

TEST_F(FirstResponseTest, ResponsesMayOutliveTheHistogramsOwner) {
  const auto request = Watched();
  times_.reset();
  Answer(*request, true);
  EXPECT_EQ(sink_->finals(), 1u);
}

}  // namespace
}  // namespace nereid::model
