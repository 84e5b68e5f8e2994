// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/sequence_transfers.h"

#include "schedule/testing/sequence_fixture.h"

namespace nereid::schedule {
namespace {

using base::StatusCode;

constexpr const char* kStates =
    "oldest { max_candidate_sequences: 2 } "
    "state { input_name: \"S_IN\" output_name: \"S_OUT\" data_type: TYPE_INT32 dims: [ 1 ] }";

class SequenceTransfersTest : public SequenceFixture {
 protected:
  std::shared_ptr<request::SequenceStates> NewStates() {
    auto states = inputs_->NewStates();
    EXPECT_TRUE(states->Reset().ok());
    return states;
  }
  /// Begins a sequence whose first request has been executed.
  void Begin(request::CorrelationId id, const std::string& name) {
    ASSERT_TRUE(Send(std::move(id), kStart, name).ok());
    std::vector<Refusal> refused;
    Decision decision = planner_->Next(now_, 1, &refused);
    ASSERT_TRUE(decision.batch.has_value());
    ASSERT_TRUE(Complete(&*decision.batch).empty());
    for (RequestPtr& request : decision.batch->requests) {
      if (request == nullptr) continue;
      request->inputs().RemoveAddedByServer();
      running_.push_back(std::move(request));
    }
    Release(name);
  }
  uint64_t Live() const { return planner_->ListSequences(0, now_, {}).total; }
};

TEST_F(SequenceTransfersTest, AHeldSequenceTakesNoRequestsUntilItIsServedAgain) {
  Use(kStates);
  Begin(uint64_t{5}, "a");
  Advance(3 * kMs);
  const auto held = planner_->transfers().Hold(uint64_t{5}, now_);
  ASSERT_TRUE(held.ok()) << held.status().message();
  EXPECT_NE(held->states, nullptr);
  EXPECT_EQ(held->idle_ns, 3 * kMs);
  EXPECT_FALSE(planner_->transfers().Has(uint64_t{5}));
  EXPECT_EQ(Send(uint64_t{5}, 0, "b").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(planner_->transfers().Hold(uint64_t{5}, now_).status().code(),
            StatusCode::kUnavailable);
  EXPECT_EQ(Live(), 1u);

  EXPECT_TRUE(planner_->transfers().Settle(held->handle, HoldEnd::kServe, now_));
  EXPECT_TRUE(Send(uint64_t{5}, 0, "c").ok());
  EXPECT_EQ(Run(), std::vector<std::string>{"c"});
  EXPECT_FALSE(planner_->transfers().Settle(held->handle, HoldEnd::kLeave, now_));
}

TEST_F(SequenceTransfersTest, ASequenceThatLeavesFreesItsSlot) {
  Use(kStates);
  Begin(uint64_t{1}, "a");
  Begin(uint64_t{2}, "b");
  ASSERT_TRUE(Send(uint64_t{3}, kStart, "c").ok());
  EXPECT_TRUE(Next().empty());  // no slot is free
  const auto held = planner_->transfers().Hold(uint64_t{1}, now_);
  ASSERT_TRUE(held.ok());
  EXPECT_TRUE(planner_->transfers().Settle(held->handle, HoldEnd::kLeave, now_));
  EXPECT_EQ(Ended(SequenceEnd::kHandover), 1u);
  EXPECT_EQ(Run(), std::vector<std::string>{"c"});
  EXPECT_EQ(Send(uint64_t{1}, 0, "d").code(), StatusCode::kInvalidArgument);
}

TEST_F(SequenceTransfersTest, OnlyIdleSequencesAreHeld) {
  Use(kStates);
  EXPECT_EQ(planner_->transfers().Hold(uint64_t{1}, now_).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "a").ok());
  EXPECT_EQ(planner_->transfers().Hold(uint64_t{1}, now_).status().code(),
            StatusCode::kUnavailable);
  Next();
  EXPECT_EQ(planner_->transfers().Hold(uint64_t{1}, now_).status().code(),
            StatusCode::kUnavailable);
  ASSERT_TRUE(Send(uint64_t{1}, kEnd, "b").ok());
  EXPECT_EQ(planner_->transfers().Hold(uint64_t{1}, now_).status().code(),
            StatusCode::kUnavailable);
}

TEST_F(SequenceTransfersTest, AStartDuringAHoldTakesThePlaceOfTheSequence) {
  Use(kStates);
  Begin(uint64_t{1}, "a");
  const auto held = planner_->transfers().Hold(uint64_t{1}, now_);
  ASSERT_TRUE(held.ok());
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "b").ok());
  EXPECT_TRUE(Next().empty());  // the model still has the earlier one
  EXPECT_FALSE(planner_->transfers().Settle(held->handle, HoldEnd::kServe, now_));
  EXPECT_EQ(Run(), std::vector<std::string>{"b"});
  EXPECT_EQ(Live(), 1u);
}

TEST_F(SequenceTransfersTest, AHeldSequenceEndsWithItsIdleTime) {
  Use(kStates);
  Begin(uint64_t{1}, "a");
  const auto held = planner_->transfers().Hold(uint64_t{1}, now_);
  ASSERT_TRUE(held.ok());
  Advance(1000 * kMs);
  EXPECT_EQ(Ended(SequenceEnd::kIdle), 1u);
  EXPECT_FALSE(planner_->transfers().Settle(held->handle, HoldEnd::kLeave, now_));
}

TEST_F(SequenceTransfersTest, AnAdoptedSequenceIsServedWhenItsHoldIsSettled) {
  Use(kStates);
  const auto handle = planner_->transfers().Adopt(uint64_t{9}, NewStates(), 400 * kMs, true, now_);
  ASSERT_TRUE(handle.ok());
  EXPECT_FALSE(planner_->transfers().Has(uint64_t{9}));
  EXPECT_TRUE(planner_->transfers().Settle(*handle, HoldEnd::kServe, now_));
  EXPECT_TRUE(planner_->transfers().Has(uint64_t{9}));
  EXPECT_EQ(planner_->transfers().Adopt(uint64_t{9}, NewStates(), 0, true, now_).status().code(),
            StatusCode::kAlreadyExists);
  EXPECT_TRUE(Send(uint64_t{9}, 0, "a").ok());
  EXPECT_EQ(Run(), std::vector<std::string>{"a"});
}

TEST_F(SequenceTransfersTest, TheIdleTimeContinues) {
  Use(kStates);
  Begin(uint64_t{1}, "a");
  const auto handle = planner_->transfers().Adopt(uint64_t{2}, NewStates(), 400 * kMs, true, now_);
  ASSERT_TRUE(handle.ok());
  EXPECT_TRUE(planner_->transfers().Settle(*handle, HoldEnd::kServe, now_));
  EXPECT_EQ(planner_->NextExpiry(), now_ + 600 * kMs);
  Advance(600 * kMs);
  EXPECT_FALSE(planner_->transfers().Has(uint64_t{2}));
  EXPECT_TRUE(planner_->transfers().Has(uint64_t{1}));
}

TEST_F(SequenceTransfersTest, WithoutASlotAnAdoptedSequenceWaitsOrIsRefused) {
  Use(kStates);
  Begin(uint64_t{1}, "a");
  Begin(uint64_t{2}, "b");
  EXPECT_EQ(planner_->transfers().Adopt(uint64_t{3}, NewStates(), 0, true, now_).status().code(),
            StatusCode::kUnavailable);
  const auto handle = planner_->transfers().Adopt(uint64_t{3}, NewStates(), 0, false, now_);
  ASSERT_TRUE(handle.ok());
  EXPECT_TRUE(planner_->transfers().Settle(*handle, HoldEnd::kServe, now_));
  ASSERT_TRUE(Send(uint64_t{3}, 0, "c").ok());
  EXPECT_TRUE(Next().empty());
  ASSERT_TRUE(Send(uint64_t{1}, kEnd, "d").ok());
  EXPECT_EQ(Run(), std::vector<std::string>{"d"});
  EXPECT_EQ(Run(), std::vector<std::string>{"c"});
}

TEST_F(SequenceTransfersTest, AnAdoptedSequenceMayGetItsSlotBeforeARequest) {
  Use(kStates);
  Begin(uint64_t{1}, "a");
  Begin(uint64_t{2}, "b");
  const auto handle = planner_->transfers().Adopt(uint64_t{3}, NewStates(), 0, false, now_);
  ASSERT_TRUE(handle.ok());
  ASSERT_TRUE(Send(uint64_t{1}, kEnd, "d").ok());
  EXPECT_EQ(Run(), std::vector<std::string>{"d"});
  EXPECT_TRUE(planner_->transfers().Settle(*handle, HoldEnd::kServe, now_));
  ASSERT_TRUE(Send(uint64_t{3}, 0, "c").ok());
  EXPECT_EQ(Run(), std::vector<std::string>{"c"});
}

TEST_F(SequenceTransfersTest, ATransferThatFailsLeavesNothing) {
  Use(kStates);
  const auto handle = planner_->transfers().Adopt(uint64_t{9}, NewStates(), 0, true, now_);
  ASSERT_TRUE(handle.ok());
  EXPECT_TRUE(planner_->transfers().Settle(*handle, HoldEnd::kLeave, now_));
  EXPECT_EQ(Live(), 0u);
}

TEST_F(SequenceTransfersTest, ModelsThatKeepSomethingThemselvesAreRefused) {
  const std::string states = kStates;
  Use("direct { }");
  ASSERT_TRUE(Send(uint64_t{1}, kStart, "a").ok());
  Run();
  const auto own = planner_->transfers().Hold(uint64_t{1}, now_);
  EXPECT_EQ(own.status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(
      own.status().message(),
      "sequences of model 'm' cannot be handed over: it keeps their states itself, because its "
      "configuration has no 'state'");
  Use(states + " iterative_sequence: true");
  EXPECT_EQ(CheckTransferable(*model_->config).code(), StatusCode::kUnsupported);
  Use(states, 2, 1, "parameters { key: \"sequence_end_notice\" value { string_value: \"true\" } }");
  EXPECT_EQ(CheckTransferable(*model_->config).code(), StatusCode::kUnsupported);
  Use(states);
  EXPECT_TRUE(CheckTransferable(*model_->config).ok());
}

}  // namespace
}  // namespace nereid::schedule
