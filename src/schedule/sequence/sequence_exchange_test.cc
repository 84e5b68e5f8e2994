// SPDX-License-Identifier: Apache-2.0
// Sequences that move at random between the schedulers of two servers, with steps, ends and failed
// transfers in between: no two servers serve one sequence, and each value is that of executing the
// sequence alone.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "schedule/testing/sequence_fixture.h"

namespace nereid::schedule {
namespace {

constexpr uint64_t kIds = 6;

class SequenceExchangeTest : public SequenceFixture {
 protected:
  /// What is true of a sequence.
  struct Truth {
    size_t place = 0;  // the server
    bool open = false;
    int32_t value = 0;
  };

  void UseTwo(const std::string& strategy) {
    Use(strategy +
            " state { input_name: \"S_IN\" output_name: \"S_OUT\" data_type: TYPE_INT32 dims: [ 1 "
            "] "
            "initial_state { data_type: TYPE_INT32 dims: [ 1 ] zero_data: true name: \"z\" } }",
        4, 2);
    planners_[0] = planner_.get();
    other_ = std::make_unique<SequencePlanner>(*model_->config, inputs_);
    for (InstanceId i = 1; i <= 2; ++i) other_->AddInstance(i, now_);
    planners_[1] = other_.get();
  }
  size_t Below(size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random_);
  }

  /// Executes a request of the sequence at a server; returns the value that it finds.
  int32_t Execute(SequencePlanner& planner, uint64_t id, uint32_t flags) {
    RequestPtr request = Make(id, flags);
    EXPECT_TRUE(planner.Push(request, now_).ok()) << id;
    return ExecuteAll(planner);
  }
  /// Executes what waits; returns the value that the last request finds.
  int32_t ExecuteAll(SequencePlanner& planner) {
    int32_t found = -1;
    for (InstanceId instance = 1; instance <= 2; ++instance) {
      std::vector<Refusal> refused;
      Decision decision = planner.Next(now_, instance, &refused);
      if (!decision.batch) continue;
      EXPECT_TRUE(Complete(&*decision.batch).empty());
      for (RequestPtr& each : decision.batch->requests) {
        if (!each->is_null) {
          found = Add(*each->states);
          each->states.reset();
          each->inputs().RemoveAddedByServer();
          planner.OnReleased(*each, now_);
        }
        each->response_factory()->Disarm();
      }
    }
    return found;
  }
  /// What the backend does: the state is one more. Returns the old one.
  static int32_t Add(request::SequenceStates& states) {
    int32_t value = 0;
    std::memcpy(&value, states.value(0).data, sizeof(value));
    const auto output = states.NewOutput("S_OUT", tensor::DataType::kInt32, {1, 1});
    const auto buffer = states.Buffer(*output, sizeof(value));
    const int32_t next = value + 1;
    std::memcpy(*buffer, &next, sizeof(next));
    EXPECT_TRUE(states.Update(*output).ok());
    states.Commit();
    return value;
  }

  void Step(uint64_t id) {
    Truth& truth = truths_[id];
    const bool begins = !truth.open || Below(10) == 0;
    const bool ends = Below(6) == 0;
    if (begins) truth.value = 0;
    if (!truth.open) truth.place = Below(2);
    const uint32_t flags = (begins ? kStart : 0) | (ends ? kEnd : 0);
    EXPECT_EQ(Execute(*planners_[truth.place], id, flags), truth.value) << id;
    ++truth.value;
    truth.open = !ends;
  }

  void Transfer(uint64_t id) {
    Truth& truth = truths_[id];
    SequencePlanner& from = *planners_[truth.place];
    SequencePlanner& to = *planners_[1 - truth.place];
    const auto held = from.transfers().Hold(id, now_);
    ASSERT_EQ(held.ok(), truth.open) << held.status().message();
    if (!held.ok()) return;
    EXPECT_FALSE(from.transfers().Has(id));
    const auto saved = held->states->Save();
    auto states = inputs_->NewStates();
    ASSERT_TRUE(saved.ok() && states->Restore(*saved).ok());
    const auto adopted = to.transfers().Adopt(id, states, held->idle_ns, Below(2) == 0, now_);
    ASSERT_TRUE(adopted.ok()) << adopted.status().message();
    EXPECT_FALSE(to.transfers().Has(id));
    switch (Below(4)) {
      case 0:  // the receiver does not take it
        EXPECT_TRUE(to.transfers().Settle(*adopted, HoldEnd::kLeave, now_));
        EXPECT_TRUE(from.transfers().Settle(held->handle, HoldEnd::kServe, now_));
        return;
      case 1:  // the client begins it again meanwhile
        EXPECT_TRUE(to.transfers().Settle(*adopted, HoldEnd::kLeave, now_));
        Restart(from, id, *held);
        return;
      default:
        EXPECT_TRUE(from.transfers().Settle(held->handle, HoldEnd::kLeave, now_));
        EXPECT_TRUE(to.transfers().Settle(*adopted, HoldEnd::kServe, now_));
        truth.place = 1 - truth.place;
    }
  }
  void Restart(SequencePlanner& planner, uint64_t id, const HeldSequence& held) {
    RequestPtr request = Make(id, kStart);
    ASSERT_TRUE(planner.Push(request, now_).ok());
    EXPECT_FALSE(planner.transfers().Settle(held.handle, HoldEnd::kServe, now_));
    EXPECT_EQ(ExecuteAll(planner), 0);
    truths_[id].value = 1;
  }

  void Check() {
    for (const auto& [id, truth] : truths_) {
      EXPECT_EQ(planners_[truth.place]->transfers().Has(id), truth.open) << id;
      EXPECT_FALSE(planners_[1 - truth.place]->transfers().Has(id)) << id;
    }
  }

  void Play(const std::string& strategy) {
    UseTwo(strategy);
    for (uint64_t id = 1; id <= kIds; ++id) truths_[id];
    for (int i = 0; i < 5'000 && !HasFailure(); ++i) {
      const uint64_t id = 1 + Below(kIds);
      if (Below(2) == 0) {
        Step(id);
      } else {
        Transfer(id);
      }
      now_ += kMs;  // far from the idle time of a second, which each step begins anew
      if (i % 100 == 0) TouchAll();
      Check();
    }
  }
  /// Executes a request of each open sequence, so that none is idle for too long.
  void TouchAll() {
    for (auto& [id, truth] : truths_) {
      if (truth.open) {
        EXPECT_EQ(Execute(*planners_[truth.place], id, 0), truth.value++);
      }
    }
  }

  std::mt19937 random_{20'261'126};
  std::unique_ptr<SequencePlanner> other_;
  std::array<SequencePlanner*, 2> planners_{};
  std::map<uint64_t, Truth> truths_;
};

TEST_F(SequenceExchangeTest, Oldest) { Play("oldest { max_candidate_sequences: 4 }"); }
TEST_F(SequenceExchangeTest, Direct) { Play("direct { }"); }

}  // namespace
}  // namespace nereid::schedule
