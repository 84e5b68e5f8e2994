// SPDX-License-Identifier: Apache-2.0
// Which requests are accepted, and which are executed together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <new>

#include "base/testing/failing_allocation.h"
#include "schedule/testing/sequence_fixture.h"

namespace nereid::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SequencePlannerTest : public SequenceFixture {};

// ---- What is accepted ----

TEST_F(SequencePlannerTest, TheDecisionTable) {
  enum class Known { kNo, kSlot, kBacklog, kAfterEnd, kAfterIdle };
  struct Row {
    Known known;
    uint32_t flags;
    bool accepted;
  };
  constexpr Row kRows[] = {
      {Known::kNo, 0, false},           {Known::kNo, kEnd, false},
      {Known::kNo, kStart, true},       {Known::kNo, kStart | kEnd, true},
      {Known::kSlot, 0, true},          {Known::kSlot, kEnd, true},
      {Known::kSlot, kStart, true},     {Known::kSlot, kStart | kEnd, true},
      {Known::kBacklog, 0, true},       {Known::kBacklog, kEnd, true},
      {Known::kBacklog, kStart, true},  {Known::kBacklog, kStart | kEnd, true},
      {Known::kAfterEnd, 0, false},     {Known::kAfterEnd, kEnd, false},
      {Known::kAfterEnd, kStart, true}, {Known::kAfterEnd, kStart | kEnd, true},
      {Known::kAfterIdle, 0, false},    {Known::kAfterIdle, kStart, true},
  };
  for (const Row& row : kRows) {
    Use("direct { }", 1);
    if (row.known == Known::kBacklog) {
      ASSERT_TRUE(Send(uint64_t{9}, kStart, "other").ok());
    }
    if (row.known != Known::kNo) {
      ASSERT_TRUE(Send(uint64_t{5}, kStart, "first").ok());
    }
    if (row.known == Known::kAfterEnd) {
      ASSERT_TRUE(Send(uint64_t{5}, kEnd, "last").ok());
    }
    if (row.known == Known::kAfterIdle) {
      Run();
      Advance(1'000 * kMs);
    }
    const base::Status status = Send(uint64_t{5}, row.flags, "r");
    EXPECT_EQ(status.ok(), row.accepted)
        << "known " << static_cast<int>(row.known) << ", flags " << row.flags;
    if (!row.accepted) {
      EXPECT_EQ(status.code(), base::StatusCode::kInvalidArgument);
      EXPECT_EQ(status.message(),
                "inference request for sequence 5 to model 'm' must specify the "
                "START flag on the first request of the sequence");
    }
    std::vector<Refusal> rest;
    planner_->DropAll(base::Status::Internal("next row"), &rest);
    Note(std::move(rest));
  }
}

TEST_F(SequencePlannerTest, IdsThatAreNone) {
  Use("direct { }");
  const std::string message =
      "inference request to model 'm' must specify a non-zero or non-empty "
      "correlation ID";
  EXPECT_EQ(Send(uint64_t{0}, kStart, "a").message(), message);
  EXPECT_EQ(Send(std::string(), kStart, "a").message(), message);
}

TEST_F(SequencePlannerTest, ARequestThatIsRefusedIsAsTheClientSentIt) {
  Use("iterative_sequence: true direct { }", 1);
  planner_->RetireInstance(1);
  RequestPtr request = Make(uint64_t{0}, 0, "a");
  EXPECT_EQ(planner_->Push(request, now_).code(), base::StatusCode::kUnavailable) << "no slots";
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(request->correlation_id, request::CorrelationId(uint64_t{0}));
  EXPECT_EQ(request->flags, 0u);
  request->response_factory()->Disarm();
}

TEST_F(SequencePlannerTest, ARequestForWhichThereIsNoMemoryIsAsTheClientSentIt) {
  using base::testing::FailingAllocation;
  bool failed = true;
  for (uint64_t failing = 0; failed; ++failing) {
    ASSERT_LT(failing, 1'000u);
    Use("iterative_sequence: true direct { }", 1);
    RequestPtr request = Make(uint64_t{0}, 0, "a");
    request->deadline_ns = now_ + kMs;
    {
      const FailingAllocation failure(failing, FailingAllocation::Extent::kOne);
      try {
        (void)planner_->Push(request, now_);
      } catch (const std::bad_alloc&) {
      }
      failed = failure.has_failed();
    }
    if (request == nullptr) {  // it is queued
      std::vector<Refusal> queued;
      planner_->DropAll(base::Status::Internal("next round"), &queued);
      Note(std::move(queued));
      continue;
    }
    EXPECT_EQ(request->correlation_id, request::CorrelationId(uint64_t{0})) << failing;
    EXPECT_EQ(request->flags, 0u) << failing;
    request->response_factory()->Disarm();
  }
}

TEST_F(SequencePlannerTest, IdsOfTextAreNoNumbers) {
  Use("direct { }");
  EXPECT_TRUE(Send(std::string("5"), kStart, "text").ok());
  EXPECT_THAT(Send(uint64_t{5}, 0, "number").message(), HasSubstr("for sequence 5 to model"));
  EXPECT_TRUE(Send(std::string(128, 'x'), kStart, "long").ok());
}

TEST_F(SequencePlannerTest, OneRowPerRequest) {
  Use("direct { }");
  auto request = Make(uint64_t{1}, kStart, "a");
  request->batch_size = 2;
  EXPECT_EQ(Push(std::move(request)).message(),
            "inference request to model 'm' must specify batch-size 1 due to "
            "requirements of sequence batcher");
}

TEST_F(SequencePlannerTest, SlotsTakeMemoryWhenTheyAreUsed) {
  // Two instances with 2^31 - 1 slots each: a list of them would be 200 GB.
  for (const char* strategy : {"direct { }", "oldest { max_candidate_sequences: 2147483647 }"}) {
    Use(strategy, 2147483647, 2);
    EXPECT_EQ(planner_->CountSequences().slots, 2 * size_t{2147483647});
    for (uint64_t id = 1; id <= 5; ++id) {
      ASSERT_TRUE(Send(id, kStart, std::to_string(id)).ok());
    }
    EXPECT_EQ(planner_->CountSequences().slots_in_use, 5u);
    EXPECT_THAT(Next(1), ElementsAre("1", "3", "5"));  // the lowest slots, by turns
    EXPECT_THAT(Next(2), ElementsAre("2", "4"));
    planner_->RetireInstance(1);
    EXPECT_EQ(planner_->CountSequences().slots, size_t{2147483647});
    EXPECT_EQ(planner_->CountSequences().slots_in_use, 2u) << "of those that take sequences";
    EXPECT_EQ(planner_->table().free_slots(), size_t{2147483647} - 2);
    for (const char* name : {"1", "2", "3", "4", "5"}) Release(name);
    planner_->Drain(now_);
    EXPECT_EQ(planner_->table().free_slots(), size_t{2147483647});
    EXPECT_TRUE(planner_->IsVacant(1));
  }
}

TEST_F(SequencePlannerTest, NothingIsHandedOutBeforeTheGateOpens) {
  Use("direct { }", 2, 2, "", {4, 2});
  for (uint64_t id = 1; id <= 4; ++id) {
    ASSERT_TRUE(Send(id, kStart | kEnd, std::to_string(id)).ok());
  }
  EXPECT_EQ(planner_->ReadyAt(now_, 1), kNever);
  EXPECT_THAT(Next(1), ElementsAre());
  EXPECT_EQ(wake_, kNever) << "the slots have enough, the backlog has not";
  ASSERT_TRUE(Send(uint64_t{5}, kStart, "5").ok());
  ASSERT_TRUE(Send(uint64_t{5}, kEnd, "6").ok());
  EXPECT_EQ(planner_->ReadyAt(now_, 2), now_ + StartGate::kOpensAfterNs);
  EXPECT_THAT(Next(1), ElementsAre());
  EXPECT_EQ(wake_, now_ + StartGate::kOpensAfterNs);
  Advance(StartGate::kOpensAfterNs);
  EXPECT_THAT(Run(1), ElementsAre("1", "3"));
  EXPECT_THAT(Run(2), ElementsAre("2", "4"));
  EXPECT_THAT(Run(1), ElementsAre("5"));
}

TEST_F(SequencePlannerTest, WithoutInstancesNothingBegins) {
  Use("direct { }", 2, 0);
  EXPECT_EQ(Send(uint64_t{1}, kStart, "a").code(), base::StatusCode::kUnavailable);
}

// ---- Slots ----

TEST_F(SequencePlannerTest, SlotsGoLowestFirstAcrossInstances) {
  Use("direct { }", 2, 2);
  for (uint64_t id = 1; id <= 4; ++id) {
    ASSERT_TRUE(Send(id, kStart, std::to_string(id)).ok());
  }
  EXPECT_THAT(Run(1), ElementsAre("1", "3"));
  EXPECT_THAT(Run(2), ElementsAre("2", "4"));
}

TEST_F(SequencePlannerTest, AnEndedSequenceMakesRoomForTheOldestInTheBacklog) {
  Use("direct { }", 1);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "1a").ok());
  ASSERT_TRUE(Send(uint64_t{2}, kStart, "2a").ok());
  ASSERT_TRUE(Send(uint64_t{3}, kStart | kEnd, "3a").ok());
  ASSERT_TRUE(Send(uint64_t{2}, kEnd, "2b").ok());
  EXPECT_EQ(planner_->CountSequences().backlog, 2u);
  EXPECT_THAT(Run(), ElementsAre("1a"));
  EXPECT_THAT(Next(), IsEmpty());
  ASSERT_TRUE(Send(uint64_t{1}, kEnd, "1b").ok());
  EXPECT_THAT(Next(), ElementsAre("1b"));
  EXPECT_THAT(Next(), IsEmpty());  // the slot is free when the last request is released
  Release("1b");
  EXPECT_THAT(Run(), ElementsAre("2a"));
  EXPECT_THAT(Run(), ElementsAre("2b"));
  EXPECT_THAT(Run(), ElementsAre("3a"));
  EXPECT_EQ(Ended(SequenceEnd::kEnd), 3u);
  EXPECT_EQ(planner_->CountSequences().slots_in_use, 0u);
}

TEST_F(SequencePlannerTest, ARequestIsReleasedOnce) {
  Use("direct { }", 1);
  ASSERT_TRUE(Send(uint64_t{1}, kStart | kEnd, "1").ok());
  ASSERT_TRUE(Send(uint64_t{2}, kStart, "2").ok());
  Next();
  request::InferenceRequest stale;
  stale.sequence_handle = running_[0]->sequence_handle;
  Release("1");
  EXPECT_THAT(Next(), ElementsAre("2"));
  planner_->OnReleased(stale, now_);  // of the sequence that had the slot before
  ASSERT_TRUE(Send(uint64_t{2}, 0, "2b").ok());
  EXPECT_THAT(Next(), IsEmpty());  // "2" still runs
}

TEST_F(SequencePlannerTest, ANewSequenceWithTheIdOfALiveOneWaitsForItsEnd) {
  Use("oldest { max_candidate_sequences: 4 }", 4, 2);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "a").ok());
  ASSERT_TRUE(Send(uint64_t{1}, kEnd, "b").ok());
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "new").ok());
  EXPECT_THAT(Next(2), IsEmpty());
  EXPECT_THAT(Run(1), ElementsAre("a"));
  EXPECT_THAT(Next(2), IsEmpty());
  EXPECT_THAT(Run(1), ElementsAre("b"));
  EXPECT_THAT(Next(2), ElementsAre("new"));
}

TEST_F(SequencePlannerTest, ASecondStartStaysInItsSlotBehindWhatIsQueued) {
  Use("direct { }", 2);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "1a").ok());
  ASSERT_TRUE(Send(uint64_t{2}, kStart, "2a").ok());
  ASSERT_TRUE(Send(uint64_t{2}, kStart, "2b").ok());
  EXPECT_THAT(Run(), ElementsAre("1a", "2a"));
  EXPECT_THAT(Run(), ElementsAre("-", "2b"));
  EXPECT_EQ(planner_->CountSequences().active, 2u);
}

// ---- Direct ----

// The figure of the specification: the rows START and READY of two slots over time.
TEST_F(SequencePlannerTest, TheFigureOfDirect) {
  Use("direct { } control_input { name: \"START\" control { kind: CONTROL_SEQUENCE_START "
      "fp32_false_true: [ 0, 1 ] } } control_input { name: \"READY\" control { kind: "
      "CONTROL_SEQUENCE_READY fp32_false_true: [ 0, 1 ] } }",
      2);
  const auto controls = [&] {
    std::vector<Refusal> refused;
    Decision decision = planner_->Next(now_, 1, &refused);
    if (!decision.batch) return std::string("nothing");
    EXPECT_THAT(Complete(&*decision.batch), IsEmpty());
    std::string text;
    for (const char* name : {"START", "READY"}) {
      text += std::string(text.empty() ? "" : " ") + name;
      for (const RequestPtr& request : decision.batch->requests) {
        float value = -1;
        const request::Input* input = request->inputs().Find(name);
        EXPECT_EQ(input->shape, (tensor::Shape{1, 1}));
        std::memcpy(&value, input->pieces[0].data, sizeof value);
        text += value == 0 ? " 0" : value == 1 ? " 1" : " ?";
      }
    }
    for (RequestPtr& request : decision.batch->requests) {
      request->inputs().RemoveAddedByServer();
      if (!request->is_null) planner_->OnReleased(*request, now_);
      request->response_factory()->Disarm();
    }
    return text;
  };
  ASSERT_TRUE(Send(uint64_t{10}, kStart, "0a").ok());
  EXPECT_EQ(controls(), "START 1 READY 1");
  EXPECT_EQ(controls(), "nothing");
  ASSERT_TRUE(Send(uint64_t{10}, 0, "0b").ok());
  ASSERT_TRUE(Send(uint64_t{11}, kStart, "1a").ok());
  EXPECT_EQ(controls(), "START 0 1 READY 1 1");
  ASSERT_TRUE(Send(uint64_t{11}, 0, "1b").ok());
  EXPECT_EQ(controls(), "START 0 0 READY 0 1");
  ASSERT_TRUE(Send(uint64_t{10}, kEnd, "0c").ok());
  ASSERT_TRUE(Send(uint64_t{11}, 0, "1c").ok());
  ASSERT_TRUE(Send(uint64_t{12}, kStart, "2a").ok());  // waits for slot 0
  EXPECT_EQ(controls(), "START 0 0 READY 1 1");
  ASSERT_TRUE(Send(uint64_t{11}, kEnd, "1d").ok());
  EXPECT_EQ(controls(), "START 1 0 READY 1 1");
}

TEST_F(SequencePlannerTest, RowsBelowTheHighestReadySlotArePadded) {
  Use("direct { }", 4);
  for (uint64_t id = 1; id <= 4; ++id) {
    ASSERT_TRUE(Send(id, kStart, std::to_string(id)).ok());
  }
  Run();
  ASSERT_TRUE(Send(uint64_t{3}, 0, "3").ok());
  EXPECT_THAT(Run(), ElementsAre("-", "-", "3"));
  ASSERT_TRUE(Send(uint64_t{2}, 0, "2").ok());
  ASSERT_TRUE(Send(uint64_t{4}, 0, "4").ok());
  EXPECT_THAT(Run(), ElementsAre("-", "2", "-", "4"));
}

TEST_F(SequencePlannerTest, PaddingHasTheShapesOfARequestAndNobodyWaits) {
  Use("direct { }", 2);
  for (uint64_t id = 1; id <= 2; ++id) ASSERT_TRUE(Send(id, kStart, std::to_string(id)).ok());
  Run();
  columns_ = 7;
  auto request = Make(uint64_t{2}, 0, "2");
  request->inputs().Find("IN")->Append("abcdefg", 7);
  ASSERT_TRUE(Push(std::move(request)).ok());
  std::vector<Refusal> refused;
  Decision decision = planner_->Next(now_, 1, &refused);
  EXPECT_THAT(Complete(&*decision.batch), IsEmpty());
  ASSERT_EQ(decision.batch->requests.size(), 2u);
  const request::InferenceRequest& padding = *decision.batch->requests[0];
  EXPECT_TRUE(padding.is_null);
  EXPECT_EQ(padding.inputs()[0].shape, (tensor::Shape{1, 7}));
  EXPECT_EQ(padding.inputs()[0].ByteSize(), 7u);
  EXPECT_EQ(padding.sequence_handle, 0u);
  EXPECT_TRUE(padding.requested_outputs.empty());
  for (RequestPtr& each : decision.batch->requests) each->response_factory()->Disarm();
  planner_->OnReleased(*decision.batch->requests[1], now_);
}

TEST_F(SequencePlannerTest, ASlotWithOtherShapesWaitsAndItsTurnComes) {
  Use("direct { }", 2);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "1a").ok());
  ASSERT_TRUE(Send(uint64_t{1}, 0, "1b").ok());
  columns_ = 3;
  ++now_;
  ASSERT_TRUE(Send(uint64_t{2}, kStart, "2a").ok());
  EXPECT_THAT(Next(), ElementsAre("1a"));
  ++now_;
  Release("1a");
  // It has waited for longer than the one in slot 0, which would keep it out for ever.
  EXPECT_THAT(Run(), ElementsAre("-", "2a"));
  EXPECT_THAT(Run(), ElementsAre("1b"));
}

TEST_F(SequencePlannerTest, UtilizationAndDelayHoldABatchBack) {
  Use("direct { max_queue_delay_microseconds: 500000 minimum_slot_utilization: 0.5 }", 4);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "1").ok());
  EXPECT_THAT(Next(), IsEmpty());
  EXPECT_EQ(wake_, now_ + 500 * kMs);
  EXPECT_EQ(planner_->ReadyAt(now_, 1), now_ + 500 * kMs);
  ASSERT_TRUE(Send(uint64_t{2}, kStart, "2").ok());
  EXPECT_THAT(Run(), ElementsAre("1", "2"));
  EXPECT_EQ(reason_, BatchReason::kUtilization);
  ASSERT_TRUE(Send(uint64_t{2}, 0, "2b").ok());
  Advance(500 * kMs);
  EXPECT_THAT(Run(), ElementsAre("-", "2b"));
  EXPECT_EQ(reason_, BatchReason::kDelayExpired);
}

TEST_F(SequencePlannerTest, WithoutUtilizationTheDelayIsNothing) {
  Use("direct { max_queue_delay_microseconds: 500000 }", 4);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "1").ok());
  EXPECT_THAT(Run(), ElementsAre("1"));
  EXPECT_EQ(reason_, BatchReason::kReadySlots);
}

TEST_F(SequencePlannerTest, ADeadlineIsNotSleptThrough) {
  Use("direct { max_queue_delay_microseconds: 500000 minimum_slot_utilization: 1 }", 4);
  auto request = Make(uint64_t{1}, kStart, "1");
  request->deadline_ns = now_ + 100 * kMs;
  ASSERT_TRUE(Push(std::move(request)).ok());
  EXPECT_THAT(Next(), IsEmpty());
  EXPECT_EQ(wake_, now_ + 99 * kMs);
  Advance(99 * kMs);
  EXPECT_THAT(Run(), ElementsAre("1"));
  EXPECT_EQ(reason_, BatchReason::kDeadline);
}

TEST_F(SequencePlannerTest, ALateReleaseKeepsTheRowEmpty) {
  Use("direct { }", 2);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "1a").ok());
  ASSERT_TRUE(Send(uint64_t{2}, kStart, "2a").ok());
  ASSERT_TRUE(Send(uint64_t{1}, 0, "1b").ok());
  ASSERT_TRUE(Send(uint64_t{2}, 0, "2b").ok());
  EXPECT_THAT(Next(), ElementsAre("1a", "2a"));
  EXPECT_THAT(Next(), IsEmpty());
  Release("2a");
  EXPECT_THAT(Next(), ElementsAre("-", "2b"));
  Release("1a");
  EXPECT_THAT(Next(), ElementsAre("1b"));
}

// ---- Oldest ----

// The figure of the specification: A to D arrive at the same rate, batches of two.
TEST_F(SequencePlannerTest, TheFigureOfOldest) {
  Use("oldest { max_candidate_sequences: 4 }", 2);
  const std::vector<std::pair<uint64_t, std::string>> names = {
      {1, "A"}, {2, "B"}, {3, "C"}, {4, "D"}};
  for (int request = 0; request < 3; ++request) {
    for (const auto& [id, name] : names) {
      const uint32_t flags = request == 0 ? kStart : request == 2 ? kEnd : 0;
      ASSERT_TRUE(Send(id, flags, name + std::to_string(request)).ok());
      ++now_;
    }
  }
  EXPECT_THAT(Run(), ElementsAre("A0", "B0"));
  EXPECT_THAT(Run(), ElementsAre("C0", "D0"));
  EXPECT_THAT(Run(), ElementsAre("A1", "B1"));
  EXPECT_THAT(Run(), ElementsAre("C1", "D1"));
  EXPECT_THAT(Run(), ElementsAre("A2", "B2"));
  EXPECT_THAT(Run(), ElementsAre("C2", "D2"));
  EXPECT_EQ(Ended(SequenceEnd::kEnd), 4u);
}

TEST_F(SequencePlannerTest, OldestNeverHasTwoOfASequence) {
  Use("oldest { max_candidate_sequences: 4 }", 4);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "D0").ok());
  ASSERT_TRUE(Send(uint64_t{1}, 0, "D1").ok());
  ASSERT_TRUE(Send(uint64_t{1}, kEnd, "D2").ok());
  EXPECT_THAT(Run(), ElementsAre("D0"));
  EXPECT_THAT(Run(), ElementsAre("D1"));
  EXPECT_THAT(Run(), ElementsAre("D2"));
}

TEST_F(SequencePlannerTest, MoreThanTheCandidatesWait) {
  Use("oldest { max_candidate_sequences: 2 }", 4);
  for (uint64_t id = 1; id <= 3; ++id) {
    ASSERT_TRUE(Send(id, kStart | kEnd, std::to_string(id)).ok());
  }
  EXPECT_THAT(Run(), ElementsAre("1", "2"));
  EXPECT_THAT(Run(), ElementsAre("3"));
}

TEST_F(SequencePlannerTest, CandidatesAreMaxBatchSizeIfNotSaid) {
  Use("oldest { }", 3);
  EXPECT_EQ(planner_->CountSequences().slots, 3u);
  Use("oldest { }", 0);
  EXPECT_EQ(planner_->CountSequences().slots, 1u);
}

TEST_F(SequencePlannerTest, OldestDelaysForAPreferredSize) {
  Use("oldest { max_candidate_sequences: 4 preferred_batch_size: [ 2 ] "
      "max_queue_delay_microseconds: 1000 }",
      4);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "1").ok());
  EXPECT_THAT(Next(), IsEmpty());
  EXPECT_EQ(wake_, now_ + kMs);
  ASSERT_TRUE(Send(uint64_t{2}, kStart, "2").ok());
  EXPECT_THAT(Run(), ElementsAre("1", "2"));
  ASSERT_TRUE(Send(uint64_t{1}, 0, "1b").ok());
  Advance(kMs);
  EXPECT_THAT(Run(), ElementsAre("1b"));
}

TEST_F(SequencePlannerTest, OrderIsKeptFromWhereARequestJoinsItsInstance) {
  Use("oldest { max_candidate_sequences: 1 preserve_ordering: true }", 1);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "1a").ok());
  // In the backlog: were its place reserved now, it would stand before "1b", which has to be
  // answered before it can run.
  ASSERT_TRUE(Send(uint64_t{2}, kStart | kEnd, "2a").ok());
  ASSERT_TRUE(Send(uint64_t{1}, kEnd, "1b").ok());
  const auto answer = [&](const std::string& name) {
    ASSERT_THAT(Next(), ElementsAre(name));
    running_[0]->response_factory()->SendFinal();
    Release(name);
  };
  answer("1a");
  answer("1b");
  EXPECT_EQ(sink_->finals(), 2u);
  answer("2a");
  EXPECT_EQ(sink_->finals(), 3u);
}

}  // namespace
}  // namespace nereid::schedule
