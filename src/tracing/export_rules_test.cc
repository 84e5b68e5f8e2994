// SPDX-License-Identifier: Apache-2.0
#include "tracing/export_rules.h"

#include <gtest/gtest.h>

#include "otlp_trace.pb.h"

namespace nereid::tracing {
namespace {

using Kind = SendOutcome::Kind;

TransportReply Reply(int status, std::string body = "") {
  TransportReply reply;
  reply.status = status;
  reply.body = std::move(body);
  return reply;
}

TEST(ExportRules, AskForAnotherAttemptOnlyWhereItMayHelp) {
  for (const int status : {429, 502, 503, 504}) {
    EXPECT_EQ(OutcomeOf(Reply(status)).kind, Kind::kRetry) << status;
  }
  for (const int status : {301, 400, 401, 404, 413, 500, 501}) {
    EXPECT_EQ(OutcomeOf(Reply(status)).kind, Kind::kRefused) << status;
    EXPECT_EQ(OutcomeOf(Reply(status)).reason,
              "the receiver answered with the HTTP status " + std::to_string(status));
  }
  TransportReply none;
  none.failure = "Couldn't connect to server";
  EXPECT_EQ(OutcomeOf(none).kind, Kind::kRetry);
  EXPECT_EQ(OutcomeOf(none).reason, "Couldn't connect to server");
}

TEST(ExportRules, CountWhatADeliveredBatchLost) {
  for (const std::string body : {"", "{}", "\xff\xff"}) {
    EXPECT_EQ(OutcomeOf(Reply(200, body)).kind, Kind::kDelivered);
    EXPECT_EQ(OutcomeOf(Reply(200, body)).rejected_spans, 0u);
    EXPECT_EQ(OutcomeOf(Reply(202, body)).reason, "");
  }
  otlp::ExportTraceServiceResponse response;
  response.mutable_partial_success()->set_rejected_spans(3);
  response.mutable_partial_success()->set_error_message("no room");
  const SendOutcome outcome = OutcomeOf(Reply(200, response.SerializeAsString()));
  EXPECT_EQ(outcome.kind, Kind::kDelivered);
  EXPECT_EQ(outcome.rejected_spans, 3u);
  EXPECT_EQ(outcome.reason, "the receiver rejected 3 spans: no room");
  response.mutable_partial_success()->set_rejected_spans(-1);
  EXPECT_EQ(OutcomeOf(Reply(200, response.SerializeAsString())).rejected_spans, 0u);
}

TEST(ExportRules, WaitLongerAfterEachFailureUpToABound) {
  constexpr uint64_t kMs = 1'000'000;
  EXPECT_EQ(RetryDelayNs(1, 0, 0), 500 * kMs);
  EXPECT_EQ(RetryDelayNs(2, 0, 0), 1000 * kMs);
  EXPECT_EQ(RetryDelayNs(6, 0, 0), 16'000 * kMs);
  EXPECT_EQ(RetryDelayNs(7, 0, 0), 30'000 * kMs);
  EXPECT_EQ(RetryDelayNs(UINT32_MAX, 0, 0), 30'000 * kMs);
  for (uint64_t random : {uint64_t{1}, uint64_t{249'999'999}, UINT64_MAX}) {
    EXPECT_GT(RetryDelayNs(1, 0, random), 250 * kMs);
    EXPECT_LE(RetryDelayNs(1, 0, random), 500 * kMs);
  }
}

TEST(ExportRules, FollowTheReceiversWishUpToABound) {
  constexpr uint64_t kSecond = 1'000'000'000;
  EXPECT_EQ(RetryDelayNs(1, 7, 0), 7 * kSecond);
  EXPECT_EQ(RetryDelayNs(7, 7, 0), 30 * kSecond);
  EXPECT_EQ(RetryDelayNs(1, UINT64_MAX, 0), 300 * kSecond);
}

}  // namespace
}  // namespace nereid::tracing
