// SPDX-License-Identifier: Apache-2.0
#include "tracing/span_exporter.h"

#include <gtest/gtest.h>

#include <deque>
#include <semaphore>

#include "base/thread_shortage.h"
#include "codec/compression/compression.h"
#include "otlp_trace.pb.h"

namespace nereid::tracing {
namespace {

constexpr uint64_t kMs = 1'000'000;

Span Named(const std::string& name) {
  Span span;
  span.context.trace_id.fill(1);
  span.context.span_id.fill(2);
  span.name = name;
  return span;
}

std::vector<std::string> NamesIn(std::string_view packed) {
  const auto inflated = codec::compression::Inflate(packed, codec::compression::Encoding::kGzip, 0,
                                                    uint64_t{1} << 20);
  EXPECT_EQ(inflated.outcome, codec::compression::Inflated::Outcome::kDone);
  otlp::ExportTraceServiceRequest request;
  EXPECT_TRUE(request.ParseFromArray(inflated.buffer.data(), static_cast<int>(inflated.size)));
  EXPECT_EQ(request.resource_spans(0).resource().attributes(0).value().string_value(), "s");
  std::vector<std::string> names;
  for (const auto& span : request.resource_spans(0).scope_spans(0).spans()) {
    names.push_back(span.name());
  }
  return names;
}

/// Answers with the replies in turn, and then with 200.
class ScriptedTransport final : public SpanTransport {
 public:
  TransportReply Send(std::string_view packed) override {
    sent.push_back(NamesIn(packed));
    if (on_send) on_send();
    TransportReply reply;
    reply.status = 200;
    if (!replies.empty()) {
      reply = std::move(replies.front());
      replies.pop_front();
    }
    return reply;
  }
  void Abort() noexcept override {
    aborted = true;
    gate.release();
  }

  std::vector<std::vector<std::string>> sent;
  std::deque<TransportReply> replies;
  std::function<void()> on_send;
  std::atomic<bool> aborted{false};
  std::counting_semaphore<> gate{0};
};

class SpanExporterTest : public ::testing::Test {
 protected:
  void Make(size_t max_queued = 8, size_t max_batch = 3) {
    auto transport = std::make_unique<ScriptedTransport>();
    transport_ = transport.get();
    exporter_ = std::make_unique<SpanExporter>(
        SpanExporter::Limits{max_queued, max_batch, 100 * kMs}, Resource{{"service.name", "s"}},
        std::move(transport), clock_);
  }
  void Add(int count) {
    for (int i = 0; i < count; ++i) exporter_->Add(Named(std::to_string(next_++)));
  }
  static TransportReply Failure(int status, uint64_t retry_after_secs = 0) {
    TransportReply reply;
    reply.status = status;
    reply.failure = "no connection";
    reply.retry_after_secs = retry_after_secs;
    return reply;
  }
  using Names = std::vector<std::string>;

  base::FakeClock clock_;
  ScriptedTransport* transport_ = nullptr;
  std::unique_ptr<SpanExporter> exporter_;
  int next_ = 0;
};

TEST_F(SpanExporterTest, SendsABatchWhenItIsFullOrOldEnough) {
  Make();
  EXPECT_EQ(exporter_->Step(), SpanExporter::kNever);
  Add(2);
  const uint64_t due_ns = clock_.NowNs() + 100 * kMs;
  EXPECT_EQ(exporter_->Step(), due_ns);
  clock_.Advance(99 * kMs);
  EXPECT_EQ(exporter_->Step(), due_ns);
  EXPECT_TRUE(transport_->sent.empty());
  clock_.Advance(1 * kMs);
  exporter_->Step();
  EXPECT_EQ(transport_->sent, (std::vector<Names>{{"0", "1"}}));

  Add(3);
  exporter_->Step();
  EXPECT_EQ(transport_->sent.back(), (Names{"2", "3", "4"}));
  EXPECT_EQ(exporter_->Step(), SpanExporter::kNever);
  EXPECT_EQ(exporter_->counts().delivered, 5u);
  EXPECT_EQ(exporter_->counts().queued, 0u);
}

TEST_F(SpanExporterTest, DropsAndCountsWhatTheQueueCannotHold) {
  Make();
  Add(10);
  EXPECT_EQ(exporter_->counts().queued, 8u);
  EXPECT_EQ(exporter_->counts().dropped_queue_full, 2u);
  for (int i = 0; i < 2; ++i) exporter_->Step();
  clock_.Advance(100 * kMs);
  exporter_->Step();
  EXPECT_EQ(transport_->sent, (std::vector<Names>{{"0", "1", "2"}, {"3", "4", "5"}, {"6", "7"}}));
  Add(1);
  EXPECT_EQ(exporter_->counts().queued, 1u);
}

TEST_F(SpanExporterTest, ABatchThatIsSentAgainCountsAsQueued) {
  Make();
  transport_->replies = {Failure(503)};
  Add(3);
  exporter_->Step();
  Add(6);
  EXPECT_EQ(exporter_->counts().queued, 8u);
  EXPECT_EQ(exporter_->counts().dropped_queue_full, 1u);
}

TEST_F(SpanExporterTest, SendsABatchAgainUntilItIsTakenAndOnlyThenTheNext) {
  Make();
  transport_->replies = {Failure(0), Failure(503), Failure(429), Failure(502), Failure(504)};
  Add(5);
  uint64_t last_wait_ns = 0;
  for (int failure = 1; failure <= 5; ++failure) {
    const uint64_t next_ns = exporter_->Step();
    ASSERT_EQ(transport_->sent.size(), static_cast<size_t>(failure));
    ASSERT_GT(next_ns, clock_.NowNs());
    const uint64_t wait_ns = next_ns - clock_.NowNs();
    EXPECT_GT(wait_ns, (250 * kMs << (failure - 1)) - 1);
    EXPECT_LE(wait_ns, 500 * kMs << (failure - 1));
    clock_.Advance(wait_ns - 1);
    EXPECT_EQ(exporter_->Step(), next_ns) << "not before the time";
    ASSERT_EQ(transport_->sent.size(), static_cast<size_t>(failure));
    clock_.Advance(1);
    last_wait_ns = wait_ns;
  }
  EXPECT_GT(last_wait_ns, 4000 * kMs);
  exporter_->Step();
  EXPECT_EQ(exporter_->counts().delivered, 3u);
  EXPECT_EQ(exporter_->counts().retries, 5u);
  exporter_->Step();
  EXPECT_EQ(transport_->sent.size(), 7u);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(transport_->sent[i], (Names{"0", "1", "2"}));
  EXPECT_EQ(transport_->sent[6], (Names{"3", "4"}));
  EXPECT_EQ(exporter_->counts().dropped_refused, 0u);
}

TEST_F(SpanExporterTest, FollowsRetryAfter) {
  Make();
  transport_->replies = {Failure(503, 20)};
  Add(3);
  EXPECT_EQ(exporter_->Step(), clock_.NowNs() + 20'000 * kMs);
}

TEST_F(SpanExporterTest, DropsABatchThatIsRefused) {
  Make();
  transport_->replies = {Failure(400)};
  Add(6);
  exporter_->Step();
  exporter_->Step();
  EXPECT_EQ(transport_->sent.size(), 2u);
  EXPECT_EQ(exporter_->counts().dropped_refused, 3u);
  EXPECT_EQ(exporter_->counts().delivered, 3u);
}

TEST_F(SpanExporterTest, CountsSpansThatTheReceiverRejected) {
  Make();
  otlp::ExportTraceServiceResponse response;
  response.mutable_partial_success()->set_rejected_spans(2);
  TransportReply reply;
  reply.status = 200;
  reply.body = response.SerializeAsString();
  response.mutable_partial_success()->set_rejected_spans(1000);
  TransportReply lie;
  lie.status = 200;
  lie.body = response.SerializeAsString();
  transport_->replies = {reply, lie};
  Add(6);
  exporter_->Step();
  EXPECT_EQ(exporter_->counts().dropped_refused, 2u);
  EXPECT_EQ(exporter_->counts().delivered, 1u);
  exporter_->Step();
  EXPECT_EQ(exporter_->counts().dropped_refused, 5u);
}

TEST_F(SpanExporterTest, ABatchIsNeverLargerThanTheQueue) {
  Make(/*max_queued=*/2, /*max_batch=*/100);
  Add(2);
  exporter_->Step();
  EXPECT_EQ(transport_->sent, (std::vector<Names>{{"0", "1"}}));
  Make(/*max_queued=*/0, /*max_batch=*/0);
  Add(1);
  exporter_->Step();
  EXPECT_EQ(transport_->sent, (std::vector<Names>{{"2"}}));
}

TEST_F(SpanExporterTest, AddDoesNotWaitForTheReceiver) {
  Make(/*max_queued=*/2, /*max_batch=*/1);
  std::binary_semaphore sending{0};
  transport_->on_send = [&] {
    sending.release();
    transport_->gate.acquire();
  };
  ASSERT_TRUE(exporter_->Start().ok());
  Add(1);
  sending.acquire();
  Add(5);  // returns although the receiver does not answer
  EXPECT_EQ(exporter_->counts().queued, 2u);
  EXPECT_EQ(exporter_->counts().dropped_queue_full, 4u);
  exporter_->Stop(0);
  EXPECT_TRUE(transport_->aborted);
}

TEST_F(SpanExporterTest, StopSendsWhatIsQueued) {
  Make();
  ASSERT_TRUE(exporter_->Start().ok());
  transport_->replies = {};
  Add(2);
  exporter_->Stop(clock_.NowNs() + 1'000'000'000 * kMs);
  EXPECT_EQ(exporter_->counts().delivered, 2u);
  Add(1);
  EXPECT_EQ(exporter_->counts().dropped_at_stop, 1u);
}

TEST_F(SpanExporterTest, StopTriesABatchThatWaitsAtOnce) {
  Make();
  std::binary_semaphore failed{0};
  transport_->replies = {Failure(503, 300)};
  transport_->on_send = [&] { failed.release(); };
  ASSERT_TRUE(exporter_->Start().ok());
  Add(3);
  failed.acquire();
  exporter_->Stop(clock_.NowNs() + 1'000'000'000 * kMs);
  EXPECT_EQ(transport_->sent.size(), 2u);
  EXPECT_EQ(exporter_->counts().delivered, 3u);
}

TEST_F(SpanExporterTest, StopGivesUpWhenItsTimeIsOver) {
  Make();
  Add(2);
  ASSERT_TRUE(exporter_->Start().ok());
  exporter_->Stop(0);
  const SpanExporter::Counts counts = exporter_->counts();
  EXPECT_EQ(counts.delivered + counts.dropped_at_stop, 2u);
  EXPECT_EQ(counts.queued, 0u);
}

TEST_F(SpanExporterTest, DoesNotStartWithoutAThread) {
  Make();
  const base::ThreadShortage shortage(0);
  EXPECT_EQ(exporter_->Start().code(), base::StatusCode::kUnavailable);
  Add(1);
  exporter_->Stop(clock_.NowNs() + kMs);
  EXPECT_EQ(exporter_->counts().dropped_at_stop, 1u);
}

}  // namespace
}  // namespace nereid::tracing
