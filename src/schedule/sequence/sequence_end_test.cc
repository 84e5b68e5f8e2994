// SPDX-License-Identifier: Apache-2.0
// How sequences end, what becomes of their slots, and what people see of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include "schedule/testing/sequence_fixture.h"

namespace nereid::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SequenceEndTest : public SequenceFixture {};

// ---- The end of a sequence ----

TEST_F(SequenceEndTest, AnIdleSequenceIsEnded) {
  Use("direct { }", 1);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "1").ok());
  ASSERT_TRUE(Send(uint64_t{2}, kStart, "2").ok());
  EXPECT_EQ(planner_->NextExpiry(), kNever);  // it has something to do
  Next();
  Advance(5'000 * kMs);
  EXPECT_EQ(Ended(SequenceEnd::kIdle), 0u);  // it still runs
  Release("1");
  EXPECT_EQ(planner_->NextExpiry(), now_ + 1'000 * kMs);
  Advance(1'000 * kMs - 1);
  EXPECT_THAT(Next(), IsEmpty());
  Advance(1);
  EXPECT_EQ(Ended(SequenceEnd::kIdle), 1u);
  EXPECT_THAT(Run(), ElementsAre("2"));
}

TEST_F(SequenceEndTest, ARequestRefreshesTheIdleTime) {
  Use("direct { }", 1);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "1a").ok());
  Run();
  Advance(900 * kMs);
  ASSERT_TRUE(Send(uint64_t{1}, 0, "1b").ok());
  Run();
  Advance(900 * kMs);
  EXPECT_TRUE(Send(uint64_t{1}, 0, "1c").ok());
}

TEST_F(SequenceEndTest, ACancelledRequestTakesItsSequenceWithIt) {
  for (const char* strategy : {"direct { }", "oldest { }"}) {
    Use(strategy, 1);
    refused_.clear();
    ASSERT_TRUE(Send(uint64_t{1}, kStart, "1a").ok());
    ASSERT_TRUE(Send(uint64_t{1}, 0, "1b").ok());
    ASSERT_TRUE(Send(uint64_t{2}, kStart, "2a").ok());
    cancellations_["1b"]->Cancel();
    DropCancelled();
    EXPECT_THAT(refused_, ElementsAre("1a: [request id: 1a] Request was cancelled",
                                      "1b: [request id: 1b] Request was cancelled"));
    EXPECT_EQ(Ended(SequenceEnd::kCancelled), 1u);
    EXPECT_THAT(Next(), ElementsAre("2a"));
    EXPECT_FALSE(Send(uint64_t{1}, 0, "1c").ok());
    running_.back()->response_factory()->Disarm();
  }
}

TEST_F(SequenceEndTest, AStartBehindACancelledRequestBeginsAnew) {
  for (const char* strategy : {"direct { }", "oldest { }"}) {
    Use(strategy, 1);
    refused_.clear();
    ASSERT_TRUE(Send(uint64_t{1}, kStart, "a").ok());
    ASSERT_TRUE(Send(uint64_t{1}, 0, "b").ok());
    ASSERT_TRUE(Send(uint64_t{1}, kStart, "c").ok());
    ASSERT_TRUE(Send(uint64_t{1}, kEnd, "d").ok());
    cancellations_["b"]->Cancel();
    DropCancelled();
    EXPECT_THAT(refused_, ElementsAre("a: [request id: a] Request was cancelled",
                                      "b: [request id: b] Request was cancelled"));
    EXPECT_THAT(Run(), ElementsAre("c"));
    EXPECT_THAT(Run(), ElementsAre("d"));
    EXPECT_EQ(Ended(SequenceEnd::kEnd), 1u);
  }
}

TEST_F(SequenceEndTest, AStartBehindARunningRequestOutlivesWhatIsBetween) {
  Use("direct { }", 1);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "a").ok());
  EXPECT_THAT(Next(), ElementsAre("a"));
  auto request = Make(uint64_t{1}, 0, "b");
  request->deadline_ns = now_ + 5;
  ASSERT_TRUE(Push(std::move(request)).ok());
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "c").ok());
  Advance(5);
  EXPECT_THAT(refused_, ElementsAre("b: [request id: b] Request was cancelled"));
  EXPECT_THAT(Next(), IsEmpty());
  Release("a");
  EXPECT_THAT(Run(), ElementsAre("c"));
  EXPECT_TRUE(Send(uint64_t{1}, 0, "d").ok());
}

TEST_F(SequenceEndTest, AStartThatGoesOnIsNotLateForTheOnesBefore) {
  Use("direct { }", 1);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "1").ok());
  auto request = Make(uint64_t{2}, kStart, "a");
  request->timeout_us = 100;
  ASSERT_TRUE(Push(std::move(request)).ok());
  request = Make(uint64_t{2}, kStart, "b");
  request->timeout_us = 300;
  ASSERT_TRUE(Push(std::move(request)).ok());
  cancellations_["a"]->Cancel();
  DropCancelled();
  Advance(200'000);
  EXPECT_EQ(refused_.size(), 1u);
  Advance(100'000);
  EXPECT_THAT(refused_.back(), "b: timeout of the corresponding sequence has been expired");
  EXPECT_EQ(planner_->NextExpiry(), kNever);
}

TEST_F(SequenceEndTest, ACancelledRequestIsNotExecutedEvenIfNobodyHasSaidSo) {
  for (const char* strategy : {"direct { }", "oldest { }"}) {
    Use(strategy, 2);
    refused_.clear();
    ASSERT_TRUE(Send(uint64_t{1}, kStart, "1").ok());
    ASSERT_TRUE(Send(uint64_t{2}, kStart, "2").ok());
    cancellations_["1"]->Cancel();
    const std::vector<std::string> rows = Run();
    EXPECT_EQ(rows.back(), "2");
    EXPECT_EQ(refused_.size(), 1u);
  }
}

TEST_F(SequenceEndTest, ASequenceThatDiesKeepsItsSlotWhileARequestRuns) {
  Use("direct { }", 1);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "1a").ok());
  ASSERT_TRUE(Send(uint64_t{1}, 0, "1b").ok());
  ASSERT_TRUE(Send(uint64_t{2}, kStart, "2").ok());
  Next();
  cancellations_["1b"]->Cancel();
  DropCancelled();
  EXPECT_THAT(Next(), IsEmpty());
  Release("1a");
  EXPECT_THAT(Next(), ElementsAre("2"));
}

TEST_F(SequenceEndTest, ADeadlineIsACancellation) {
  Use("direct { }", 1);
  auto request = Make(uint64_t{1}, kStart, "1");
  request->deadline_ns = now_ + 5;
  ASSERT_TRUE(Push(std::move(request)).ok());
  EXPECT_EQ(planner_->NextExpiry(), now_ + 5);
  Advance(5);
  EXPECT_THAT(reasons_, ElementsAre(telemetry::FailureReason::kCanceled));
  EXPECT_EQ(planner_->NextExpiry(), kNever);
}

TEST_F(SequenceEndTest, TheBacklogHasATimeout) {
  Use("direct { }", 1);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "1").ok());
  ASSERT_TRUE(Send(uint64_t{2}, kStart, "2a").ok());
  auto request = Make(uint64_t{2}, 0, "2b");
  request->timeout_us = 100;
  ASSERT_TRUE(Push(std::move(request)).ok());
  EXPECT_EQ(planner_->NextExpiry(), now_ + 100'000);
  Advance(100'000);
  EXPECT_THAT(refused_, ElementsAre("2a: timeout of the corresponding sequence has been expired",
                                    "2b: timeout of the corresponding sequence has been expired"));
  EXPECT_THAT(reasons_, ElementsAre(telemetry::FailureReason::kRejected,
                                    telemetry::FailureReason::kRejected));
  EXPECT_FALSE(Send(uint64_t{2}, 0, "2c").ok());
  EXPECT_THAT(Run(), ElementsAre("1"));
}

TEST_F(SequenceEndTest, ASlotEndsTheTimeoutOfTheBacklog) {
  Use("direct { }", 1);
  ASSERT_TRUE(Send(uint64_t{1}, kStart | kEnd, "1").ok());
  auto request = Make(uint64_t{2}, kStart, "2");
  request->timeout_us = 100;
  ASSERT_TRUE(Push(std::move(request)).ok());
  Run();
  Advance(100'000);
  EXPECT_THAT(Run(), ElementsAre("2"));
}

TEST_F(SequenceEndTest, TheBackendIsToldWhenItAsksForThat) {
  Use("direct { } control_input { name: \"END\" control { kind: CONTROL_SEQUENCE_END "
      "int32_false_true: [ 0, 1 ] } }",
      1, 1, "parameters { key: \"sequence_end_notice\" value { string_value: \"true\" } }");
  ASSERT_TRUE(Send(uint64_t{7}, kStart, "1").ok());
  ASSERT_TRUE(Send(uint64_t{8}, kStart, "waits").ok());
  Run();
  Advance(1'000 * kMs);
  std::vector<Refusal> refused;
  Decision decision = planner_->Next(now_, 1, &refused);
  ASSERT_TRUE(decision.batch);
  EXPECT_THAT(Complete(&*decision.batch), IsEmpty());
  ASSERT_EQ(decision.batch->requests.size(), 1u);
  request::InferenceRequest& notice = *decision.batch->requests[0];
  EXPECT_TRUE(notice.is_null);
  EXPECT_TRUE(notice.IsCancelled());
  EXPECT_EQ(std::get<uint64_t>(notice.correlation_id), 7u);
  EXPECT_EQ(notice.flags, kEnd);
  EXPECT_EQ(notice.inputs().Find("IN")->shape, (tensor::Shape{1, 1}));
  EXPECT_EQ(notice.inputs().Find("IN")->ByteSize(), 1u);
  EXPECT_EQ(*reinterpret_cast<const int32_t*>(notice.inputs().Find("END")->pieces[0].data), 1);
  EXPECT_EQ(Ended(SequenceEnd::kIdle), 0u);
  EXPECT_THAT(Next(), IsEmpty());  // the slot is taken until then
  planner_->OnReleased(notice, now_);
  EXPECT_EQ(Ended(SequenceEnd::kIdle), 1u);
  EXPECT_THAT(Run(), ElementsAre("waits"));
}

TEST_F(SequenceEndTest, NoNoticeOfWhatTheBackendHasNotSeenOrHasSeenEnd) {
  Use("direct { }", 1, 1,
      "parameters { key: \"sequence_end_notice\" value { string_value: \"true\" } }");
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "1").ok());
  cancellations_["1"]->Cancel();
  DropCancelled();
  EXPECT_THAT(Next(), IsEmpty());
  ASSERT_TRUE(Send(uint64_t{2}, kStart | kEnd, "2").ok());
  Run();
  EXPECT_THAT(Next(), IsEmpty());
}

// ---- Instances ----

TEST_F(SequenceEndTest, ARetiredInstanceServesWhatHasBegunThere) {
  Use("direct { }", 1, 2);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "1a").ok());
  Run(1);
  planner_->RetireInstance(1);
  EXPECT_FALSE(planner_->IsVacant(1));
  ASSERT_TRUE(Send(uint64_t{2}, kStart, "2a").ok());
  ASSERT_TRUE(Send(uint64_t{3}, kStart, "3a").ok());
  EXPECT_THAT(Next(2), ElementsAre("2a"));
  ASSERT_TRUE(Send(uint64_t{1}, kEnd, "1b").ok());
  EXPECT_THAT(Run(1), ElementsAre("1b"));
  EXPECT_TRUE(planner_->IsVacant(1));
  EXPECT_THAT(Next(1), IsEmpty());  // the backlog does not come here
  planner_->RemoveInstance(1);
  planner_->AddInstance(3, now_);
  EXPECT_THAT(Next(3), ElementsAre("3a"));
}

TEST_F(SequenceEndTest, DrainingEndsWhatWaitsForClients) {
  Use("direct { }", 1);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "1a").ok());
  Run();
  ASSERT_TRUE(Send(uint64_t{2}, kStart, "2a").ok());
  ASSERT_TRUE(Send(uint64_t{3}, kStart, "3a").ok());
  planner_->Drain(now_);
  EXPECT_THAT(Run(), ElementsAre("2a"));
  EXPECT_THAT(Run(), ElementsAre("3a"));
  EXPECT_TRUE(refused_.empty());
  EXPECT_EQ(Ended(SequenceEnd::kUnload), 3u);
}

// ---- Iterations ----

TEST_F(SequenceEndTest, ARequestWithoutAnIdIsASequenceThatMayGoOn) {
  Use("iterative_sequence: true oldest { max_candidate_sequences: 2 }", 2);
  ASSERT_TRUE(Send(uint64_t{0}, 0, "a").ok());
  ASSERT_TRUE(Send(uint64_t{0}, 0, "b").ok());
  ASSERT_TRUE(Send(uint64_t{0}, 0, "c").ok());
  EXPECT_THAT(Next(), ElementsAre("a", "b"));
  EXPECT_EQ(std::get<uint64_t>(running_[0]->correlation_id), 1u);
  EXPECT_EQ(std::get<uint64_t>(running_[1]->correlation_id), 2u);
  EXPECT_EQ(running_[0]->flags, kStart);
  Reschedule(std::move(running_[0]));
  running_.erase(running_.begin());
  request::InferenceRequest* const b = running_[0].get();
  Release("b");
  EXPECT_THAT(Next(), ElementsAre("a", "c"));
  EXPECT_EQ(running_[0]->flags, 0u);
  EXPECT_EQ(running_[1]->flags, kStart);
  (void)b;
  planner_->OnReleased(*running_[0], now_);
  EXPECT_EQ(std::get<uint64_t>(running_[0]->correlation_id), 0u);  // as the client gave it
  planner_->OnReleased(*running_[1], now_);
  EXPECT_EQ(Ended(SequenceEnd::kEnd), 3u);
  EXPECT_EQ(planner_->CountSequences().slots_in_use, 0u);
}

TEST_F(SequenceEndTest, AnIterationComesBeforeTheNextRequest) {
  Use("iterative_sequence: true direct { }", 1);
  ASSERT_TRUE(Send(uint64_t{5}, kStart, "a").ok());
  ASSERT_TRUE(Send(uint64_t{5}, kEnd, "b").ok());
  Next();
  Reschedule(std::move(running_[0]));
  running_.clear();
  EXPECT_THAT(Next(), ElementsAre("a"));
  Release("a");
  EXPECT_THAT(Run(), ElementsAre("b"));
}

TEST_F(SequenceEndTest, TheLastIterationEndsASequenceThatTheClientHasNamed) {
  Use("iterative_sequence: true direct { }", 1);
  ASSERT_TRUE(Send(uint64_t{5}, kStart, "a").ok());
  ASSERT_TRUE(Send(uint64_t{5}, 0, "b").ok());
  EXPECT_THAT(Run(), ElementsAre("a"));
  EXPECT_FALSE(Send(uint64_t{5}, 0, "c").ok());
  ASSERT_TRUE(Send(uint64_t{5}, kStart, "d").ok());
  EXPECT_THAT(Run(), ElementsAre("b"));  // was here in time
  EXPECT_EQ(Ended(SequenceEnd::kEnd), 1u);
  EXPECT_THAT(Run(), ElementsAre("d"));
  EXPECT_EQ(planner_->CountSequences().slots_in_use, 0u);
}

TEST_F(SequenceEndTest, AnIterationThatOutlivesTheIdleTimeIsTheLast) {
  Use("iterative_sequence: true direct { }", 1);
  ASSERT_TRUE(Send(uint64_t{0}, 0, "a").ok());
  Next();
  Advance(900 * kMs);
  EXPECT_TRUE(planner_->CheckReschedule(*running_[0], now_).ok());
  Reschedule(std::move(running_[0]));
  running_.clear();
  EXPECT_THAT(Next(), ElementsAre("a"));
  Advance(999 * kMs);
  EXPECT_TRUE(planner_->CheckReschedule(*running_[0], now_).ok()) << "counted from its return";
  Advance(1 * kMs);
  const base::Status status = planner_->CheckReschedule(*running_[0], now_);
  EXPECT_EQ(status.code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "inference request for sequence 1 to model 'm' must specify the START flag on the "
            "first request of the sequence");
  EXPECT_FALSE(planner_->CheckReschedule(*running_[0], now_).ok());
  EXPECT_EQ(planner_->CountSequences().slots_in_use, 1u) << "until the backend gives it back";
  Release("a");
  EXPECT_EQ(Ended(SequenceEnd::kIdle), 1u);
  EXPECT_EQ(planner_->CountSequences().slots_in_use, 0u);
}

TEST_F(SequenceEndTest, AnotherRequestOfItKeepsAnIteratingSequenceAlive) {
  Use("iterative_sequence: true direct { }", 1);
  ASSERT_TRUE(Send(uint64_t{5}, kStart, "a").ok());
  Next();
  Advance(900 * kMs);
  ASSERT_TRUE(Send(uint64_t{5}, 0, "b").ok());
  Advance(900 * kMs);
  EXPECT_TRUE(planner_->CheckReschedule(*running_[0], now_).ok());
}

TEST_F(SequenceEndTest, ACancelledRequestIsNotIteratedFurther) {
  Use("iterative_sequence: true direct { }", 1);
  ASSERT_TRUE(Send(uint64_t{0}, 0, "a").ok());
  Next();
  cancellations_["a"]->Cancel();
  Reschedule(std::move(running_[0]));
  running_.clear();
  EXPECT_EQ(refused_.size(), 1u);
  EXPECT_EQ(planner_->CountSequences().active, 0u);
}

// ---- What people see ----

TEST_F(SequenceEndTest, TheListOfSequences) {
  Use("direct { }", 1);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "a").ok());
  Run();
  ASSERT_TRUE(Send(std::string("x"), kStart, "b").ok());
  ASSERT_TRUE(Send(std::string("x"), kEnd, "c").ok());
  Advance(10);
  const auto name = [](InstanceId id) { return "m_" + std::to_string(id); };
  const auto list = planner_->ListSequences(10, now_, name);
  ASSERT_EQ(list.total, 2u);
  EXPECT_EQ(list.sequences[0].id, "1");
  EXPECT_EQ(list.sequences[0].instance, "m_1");
  EXPECT_EQ(list.sequences[0].idle_ns, 10u);
  EXPECT_TRUE(list.sequences[0].has_slot && list.sequences[0].open);
  EXPECT_EQ(list.sequences[1].id, "x");
  EXPECT_EQ(list.sequences[1].queued, 2u);
  EXPECT_TRUE(list.sequences[1].text_id);
  EXPECT_FALSE(list.sequences[1].has_slot || list.sequences[1].open);
  EXPECT_EQ(planner_->ListSequences(1, now_, name).sequences.size(), 1u);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// What a sequence that waits for its client costs, without states.
TEST_F(SequenceEndTest, AnOpenSequenceTakesLittleMemory) {
  constexpr uint64_t kSequences = 10'000;
  Use("oldest { max_candidate_sequences: 10000 }", 1, 0);
  const size_t before = mallinfo2().uordblks;
  planner_->AddInstance(1, now_);
  std::vector<Refusal> refused;
  for (uint64_t id = 1; id <= kSequences; ++id) {
    auto request = Make(id, kStart);
    ASSERT_TRUE(planner_->Push(request, now_).ok());
    Decision decision = planner_->Next(now_, 1, &refused);
    ASSERT_TRUE(decision.batch);
    planner_->OnReleased(*decision.batch->requests[0], now_);
    decision.batch->requests[0]->response_factory()->Disarm();
  }
  ASSERT_EQ(planner_->CountSequences().active, kSequences);
  const size_t each = (mallinfo2().uordblks - before) / kSequences;
  RecordProperty("bytes_per_sequence", static_cast<int>(each));
  EXPECT_LE(each, 2048u);
  EXPECT_GE(each, sizeof(Sequence));
}
#endif

}  // namespace
}  // namespace nereid::schedule
