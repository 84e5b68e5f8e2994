// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "request/binding.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "schedule/sequence/sequence_planner.h"

namespace nereid::schedule {

/// The idle time of the models, which say 40 microseconds.
inline constexpr uint64_t kPlayedIdleNs = 40'000;

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t Below(uint64_t bound) { return bound == 0 ? 0 : engine_() % bound; }
  bool Chance(uint64_t percent) { return Below(100) < percent; }

 private:
  std::mt19937_64 engine_;
};

using ModelPtr = std::shared_ptr<const request::ModelIdentity>;

/// The state of a request in the serial model, by the number of the request.
struct PlayedRequest {
  size_t sequence = 0;
  bool start = false;
  int64_t value = 0;
  int64_t columns = 1;
  uint64_t deadline_ns = kNever;
  uint64_t backlog_until_ns = kNever;
  int iterations = 1;  // executions that are left
  int answers = 0;
  std::shared_ptr<request::Cancellation> cancellation;
};

/// The state of a sequence in the serial model.
struct PlayedSequence {
  uint64_t id = 0;
  bool internal = false;
  bool closed = false;          // END has come, or it is dead
  bool dead = false;            // something of it was refused, or it was idle for too long
  std::vector<size_t> waiting;  // numbers of requests, in order
  bool running = false;
  uint64_t touched_ns = 0;
  uint64_t queued_ns = 0;
  int64_t expected = 0;  // the state of the serial model
  bool placed = false;   // something of it has been executed
  InstanceId instance = 0;
  size_t row = 0;
};

/// One loaded version of a sequence model under random events, beside a serial model of what the
/// sequence batcher promises. `random` and `now_ns` are the schedule's, and outlive it.
class PlayedVersion {
 public:
  PlayedVersion(const ModelPtr& model, bool direct, Random& random, const uint64_t& now_ns)
      : random_(random),
        now_ns_(now_ns),
        model_(model),
        direct_(direct),
        options_(*model->config->sequence_batching()),
        planner_(*model->config, nullptr) {
    for (uint64_t i = 1 + random_.Below(3); i > 0; --i) AddInstance();
  }

  static bool failed() { return ::testing::Test::HasFailure(); }

  // ---- Events ----

  /// Time has passed.
  void Expire() {
    ExpectRefusals([&](std::vector<Refusal>* refused) { planner_.Expire(now_ns_, refused); });
    for (PlayedSequence& sequence : sequences_) {
      const bool idle = !sequence.closed && sequence.waiting.empty() && !sequence.running;
      if (idle && sequence.touched_ns + kPlayedIdleNs <= now_ns_)
        sequence.closed = sequence.dead = true;
    }
    EXPECT_GT(planner_.NextExpiry(), now_ns_);
  }

  /// A request of one of a few ids.
  void Send() {
    auto request = std::make_unique<request::InferenceRequest>();
    const bool internal = options_.iterative && random_.Chance(30);
    const uint64_t id = internal ? 0 : 1 + random_.Below(5);
    PlayedRequest known;
    known.start = internal || random_.Chance(30);
    const bool end = !internal && random_.Chance(25);
    known.value = static_cast<int64_t>(1 + random_.Below(1000));
    known.columns = random_.Chance(20) ? 2 : 1;
    if (options_.iterative) known.iterations = static_cast<int>(1 + random_.Below(3));
    if (id != 0 && id % 2 == 0) {
      request->correlation_id = "id" + std::to_string(id);
    } else {
      request->correlation_id = id;
    }
    request->flags = (known.start && !internal ? request::kFlagSequenceStart : 0) |
                     (end ? request::kFlagSequenceEnd : 0);
    request->batch_size = model_->config->max_batch_size() > 0 ? 1 : 0;
    request->priority = known_.size();
    (void)request->AddInput("X", tensor::DataType::kInt8, {1, known.columns});
    if (random_.Chance(10)) {
      known.deadline_ns = now_ns_ + 1 + random_.Below(20'000);
      request->deadline_ns = known.deadline_ns;
    }
    if (random_.Chance(10)) request->timeout_us = 1 + random_.Below(20);
    known.cancellation = request->cancellation();
    if (Notices()) request::BindRequest(*request, model_);
    Push(std::move(request), std::move(known), id, end);
  }

  /// Any request; the planner may be told.
  void Cancel() {
    if (known_.empty()) return;
    PlayedRequest& known = known_[random_.Below(known_.size())];
    known.cancellation->Cancel();
    if (random_.Chance(50)) DropCancelled();
  }
  void AddInstance() {
    if (instances_.size() >= 4) return;
    planner_.AddInstance(next_instance_, now_ns_);
    instances_[next_instance_++] = {};
  }
  void RetireInstance() {
    const auto instance = Pick(instances_);
    if (instance == instances_.end()) return;
    instance->second.retired = true;
    planner_.RetireInstance(instance->first);
    RemoveVacant();
  }
  /// Another version has taken its place: it gets no requests any more.
  void Drain() {
    planner_.Drain(now_ns_);
    ExpectRefusals([&](std::vector<Refusal>* refused) { planner_.TakeRefused(now_ns_, refused); });
    for (PlayedSequence& sequence : sequences_) {
      if (!sequence.closed && sequence.waiting.empty() && !sequence.running)
        sequence.closed = sequence.dead = true;
    }
    drained_ = true;
  }

  /// An instance that may be free asks for a batch.
  void Plan() {
    const auto found = Pick(instances_);
    if (found != instances_.end() && !found->second.busy) PlanFor(found->first);
  }

  /// A request is given back, for good or for another iteration.
  void Release() {
    const auto chosen = Pick(running_);
    if (chosen == running_.end()) return;
    Running running = std::move(*chosen);
    running_.erase(chosen);
    if (running.request->is_null) {
      planner_.OnReleased(*running.request, now_ns_);
      return RemoveVacant();
    }
    PlayedRequest& known = known_[running.request->priority];
    PlayedSequence& sequence = sequences_[known.sequence];
    sequence.running = false;
    if (known.iterations > 1) {
      const bool too_late = now_ns_ >= sequence.queued_ns + kPlayedIdleNs;
      EXPECT_EQ(planner_.CheckReschedule(*running.request, now_ns_).ok(), !too_late);
      if (too_late) known.iterations = 1;
    }
    sequence.touched_ns = now_ns_;
    if (--known.iterations > 0) return Reschedule(std::move(running), known, sequence);
    EXPECT_EQ(++known.answers, 1);
    if (options_.iterative) sequence.closed = true;
    planner_.OnReleased(*running.request, now_ns_);
    EXPECT_EQ(running.request->flags & request::kFlagSequenceStart ? known.start : true, true);
    // A second release of the same request must change nothing.
    if (random_.Chance(20)) {
      running.request->sequence_handle = 1 + random_.Below(3);
      const size_t waiting = planner_.size();
      if (!HandleRuns(running.request->sequence_handle)) {
        planner_.OnReleased(*running.request, now_ns_);
      }
      EXPECT_EQ(planner_.size(), waiting);
    }
    if (running.request->response_factory() != nullptr)
      running.request->response_factory()->Disarm();
    if (drained_ && sequence.waiting.empty() && !sequence.closed)
      sequence.closed = sequence.dead = true;
    RemoveVacant();
  }
  /// An instance is free although some of its requests may not be released.
  void FinishInstance() {
    const auto found = Pick(instances_);
    if (found == instances_.end()) return;
    found->second.busy = false;
    RemoveVacant();
  }

  /// Everything is released that there is, and one batch made. False if there was none.
  bool Step() {
    while (!running_.empty()) Release();
    for (auto& [instance, state] : instances_) state.busy = false;
    RemoveVacant();
    const auto instances = instances_;  // planning may remove some
    return std::any_of(instances.begin(), instances.end(),
                       [&](const auto& each) { return PlanFor(each.first); });
  }
  void EnsureAnInstance() {
    if (std::all_of(instances_.begin(), instances_.end(),
                    [](const auto& each) { return each.second.retired; })) {
      AddInstanceAlways();
    }
  }
  void DropCancelled() {
    ExpectRefusals(
        [&](std::vector<Refusal>* refused) { planner_.DropCancelled(now_ns_, refused); });
  }
  bool empty() const {
    return planner_.size() == 0 && planner_.table().active().empty() &&
           planner_.table().idle().empty();
  }
  /// After the last event: nothing is left, and nothing was lost.
  void ExpectAllDone() {
    EXPECT_EQ(planner_.size(), 0u);
    EXPECT_EQ(planner_.table().free_slots(), planner_.table().slots()) << "a slot leaks";
    EXPECT_EQ(planner_.NextExpiry(), kNever);
    for (const auto& [instance, state] : instances_) EXPECT_FALSE(state.retired);
    for (const PlayedRequest& known : known_)
      EXPECT_EQ(known.answers, 1) << "lost, or answered twice";
    uint64_t ended = 0;
    for (const auto& [reason, count] : planner_.CountSequences().ended) ended += count;
    EXPECT_EQ(ended, sequences_.size());
    EXPECT_LE(notices_, sequences_.size());
  }

 private:
  struct Running {
    RequestPtr request;
    InstanceId instance;
    size_t row;
  };
  struct Instance {
    bool busy = false;
    bool retired = false;
  };

  void Push(RequestPtr request, PlayedRequest known, uint64_t id, bool end) {
    size_t sequence = sequences_.size();
    const auto open = open_.find(id);
    if (id != 0 && open != open_.end() && !sequences_[open->second].closed) sequence = open->second;
    const bool begins = sequence == sequences_.size();
    const bool active = std::any_of(instances_.begin(), instances_.end(),
                                    [](const auto& each) { return !each.second.retired; });
    const bool welcome = !begins || (known.start && active);
    const uint64_t timeout_us = request->timeout_us;
    const base::Status status = planner_.Push(request, now_ns_);
    EXPECT_EQ(status.ok(), welcome) << status.message();
    if (!status.ok()) {
      EXPECT_NE(request, nullptr);
      if (request->response_factory() != nullptr) request->response_factory()->Disarm();
      return;
    }
    if (begins) {
      sequences_.emplace_back().closed = id == 0;
      if (id != 0) open_[id] = sequence;
    }
    known.sequence = sequence;
    if (end) sequences_[sequence].closed = true;
    sequences_[sequence].touched_ns = now_ns_;
    sequences_[sequence].queued_ns = now_ns_;
    if (timeout_us != 0) known.backlog_until_ns = now_ns_ + timeout_us * 1000;
    sequences_[sequence].waiting.push_back(known_.size());
    known_.push_back(std::move(known));
  }

  void RemoveVacant() {
    std::erase_if(instances_, [&](const auto& each) {
      const bool gone = each.second.retired && !each.second.busy && planner_.IsVacant(each.first);
      if (gone) planner_.RemoveInstance(each.first);
      return gone;
    });
  }
  template <typename Container>
  typename Container::iterator Pick(Container& all) {
    return all.empty() ? all.end() : std::next(all.begin(), random_.Below(all.size()));
  }

  // ---- Execution ----

  bool PlanFor(InstanceId instance) {
    ExpectRefusals([&](std::vector<Refusal>* refused) { planner_.Expire(now_ns_, refused); });
    const uint64_t ready_ns = planner_.ReadyAt(now_ns_, instance);
    std::vector<Refusal> refused;
    Decision decision = planner_.Next(now_ns_, instance, &refused);
    const bool refused_any = !refused.empty();
    EXPECT_TRUE(ready_ns > now_ns_ || decision.batch || refused_any);
    CheckRefusals(std::move(refused));
    if (!decision.batch) {
      EXPECT_GT(decision.wake_ns, now_ns_);
      return refused_any;
    }
    EXPECT_LE(ready_ns, now_ns_ + (refused_any ? kNever - now_ns_ : 0));
    instances_[instance].busy = true;
    Execute(instance, std::move(*decision.batch));
    return true;
  }

  void Execute(InstanceId instance, Batch batch) {
    const auto largest = static_cast<size_t>(std::max(1, model_->config->max_batch_size()));
    EXPECT_LE(batch.requests.size(), largest);
    EXPECT_EQ(batch.batch_size, batch.requests.size());
    EXPECT_NE(batch.requests.back(), nullptr);
    std::set<size_t> sequences;
    int64_t columns = 0;
    for (size_t row = 0; row < batch.requests.size(); ++row) {
      RequestPtr& request = batch.requests[row];
      if (request == nullptr) {
        EXPECT_TRUE(direct_);
        continue;
      }
      if (request->is_null) {
        ExecuteNotice(*request);
      } else {
        PlayedRequest& known = known_[request->priority];
        EXPECT_TRUE(sequences.insert(known.sequence).second) << "twice in a batch";
        EXPECT_TRUE(columns == 0 || columns == known.columns) << "shapes differ";
        columns = known.columns;
        ExecuteRequest(instance, row, *request, known);
      }
      running_.push_back({std::move(request), instance, row});
    }
  }

  void ExecuteNotice(const request::InferenceRequest& request) {
    EXPECT_TRUE(Notices());
    EXPECT_TRUE(request.IsCancelled());
    EXPECT_EQ(request.flags, request::kFlagSequenceEnd);
    ++notices_;
  }

  void ExecuteRequest(InstanceId instance, size_t row, const request::InferenceRequest& request,
                      PlayedRequest& known) {
    PlayedSequence& sequence = sequences_[known.sequence];
    EXPECT_FALSE(sequence.running) << "two of a sequence at a time";
    EXPECT_FALSE(sequence.dead);
    EXPECT_FALSE(known.cancellation->IsCancelled());
    EXPECT_GT(known.deadline_ns, now_ns_);
    ASSERT_FALSE(sequence.waiting.empty());
    EXPECT_EQ(sequence.waiting.front(), request.priority) << "out of order";
    sequence.waiting.erase(sequence.waiting.begin());
    sequence.running = true;
    const bool first = !sequence.placed;
    if (first) {
      sequence.placed = true;
      sequence.instance = instance;
      sequence.row = row;
    }
    EXPECT_EQ(sequence.instance, instance);
    EXPECT_TRUE(!direct_ || sequence.row == row);
    // The model's view: it knows the row or the id, and the controls.
    const auto key = direct_
                         ? std::pair(instance, std::to_string(row))
                         : std::pair(instance, request::CorrelationIdText(request.correlation_id));
    Kept& kept = kept_[key];
    const bool start = (request.flags & request::kFlagSequenceStart) != 0;
    if (start) {
      EXPECT_TRUE(kept.sequence == known.sequence || !IsAlive(kept.sequence))
          << "a live sequence has the place";
      kept = {known.sequence, 0};
      sequence.expected = 0;
    } else {
      EXPECT_EQ(kept.sequence, known.sequence) << "the place is another sequence's";
    }
    kept.sum += known.value;
    sequence.expected += known.value;
    EXPECT_EQ(kept.sum, sequence.expected);
  }

  bool IsAlive(size_t index) const {
    if (index >= sequences_.size()) return false;
    const PlayedSequence& sequence = sequences_[index];
    return sequence.running || !sequence.waiting.empty() || !sequence.closed;
  }

  bool HandleRuns(uint64_t handle) const {
    return std::any_of(running_.begin(), running_.end(), [&](const Running& running) {
      return running.request->sequence_handle == handle;
    });
  }

  void Reschedule(Running running, PlayedRequest& known, PlayedSequence& sequence) {
    const size_t number = running.request->priority;
    known.value = static_cast<int64_t>(1 + random_.Below(1000));
    sequence.waiting.insert(sequence.waiting.begin(), number);
    sequence.queued_ns = now_ns_;
    ExpectRefusals([&](std::vector<Refusal>* refused) {
      planner_.Reschedule(std::move(running.request), now_ns_);
      planner_.TakeRefused(now_ns_, refused);
    });
    RemoveVacant();
  }

  // ---- Refusals ----

  template <typename Action>
  void ExpectRefusals(const Action& action) {
    std::vector<Refusal> refused;
    action(&refused);
    CheckRefusals(std::move(refused));
    RemoveVacant();
  }

  void CheckRefusals(std::vector<Refusal> refused) {
    std::map<size_t, std::vector<size_t>> by_sequence;
    for (Refusal& refusal : refused) {
      PlayedRequest& known = known_[refusal.request->priority];
      EXPECT_EQ(++known.answers, 1);
      EXPECT_FALSE(refusal.error.ok());
      by_sequence[known.sequence].push_back(refusal.request->priority);
      if (refusal.request->response_factory() != nullptr) {
        refusal.request->response_factory()->Disarm();
      }
    }
    for (const auto& [index, numbers] : by_sequence) CheckRefusedOf(sequences_[index], numbers);
  }

  bool IsGivenUp(const PlayedRequest& known) const {
    return known.cancellation->IsCancelled() || known.deadline_ns <= now_ns_;
  }
  /// Returns how many waiting requests are refused with the cancelled ones: all before the START
  /// that follows them.
  size_t CountGivenUp(const PlayedSequence& sequence) const {
    size_t count = 0;
    for (size_t i = 0; i < sequence.waiting.size(); ++i) {
      if (!IsGivenUp(known_[sequence.waiting[i]])) continue;
      count = i + 1;
      while (count < sequence.waiting.size() && !known_[sequence.waiting[count]].start) ++count;
    }
    return count;
  }

  void CheckRefusedOf(PlayedSequence& sequence, const std::vector<size_t>& numbers) {
    ASSERT_LE(numbers.size(), sequence.waiting.size());
    EXPECT_TRUE(std::equal(numbers.begin(), numbers.end(), sequence.waiting.begin()))
        << "not all that waited, or not in order";
    const size_t given_up = CountGivenUp(sequence);
    if (numbers.size() != given_up) {
      const auto late = [&](size_t number) { return known_[number].backlog_until_ns <= now_ns_; };
      EXPECT_EQ(numbers.size(), sequence.waiting.size()) << "a part of a sequence";
      EXPECT_TRUE(sequence.dead || std::any_of(numbers.begin(), numbers.end(), late))
          << "nothing was wrong with the sequence";
    }
    sequence.waiting.erase(sequence.waiting.begin(),
                           sequence.waiting.begin() + static_cast<std::ptrdiff_t>(numbers.size()));
    if (sequence.waiting.empty()) sequence.closed = sequence.dead = true;
  }

  void AddInstanceAlways() {
    planner_.AddInstance(next_instance_, now_ns_);
    instances_[next_instance_++] = {};
  }
  bool Notices() const { return model_->config->FindParameter("sequence_end_notice") != nullptr; }

  struct Kept {
    size_t sequence = SIZE_MAX;
    int64_t sum = 0;
  };

  Random& random_;
  const uint64_t& now_ns_;
  const ModelPtr model_;
  const bool direct_;
  const config::SequenceBatchingOptions& options_;
  SequencePlanner planner_;
  InstanceId next_instance_ = 1;
  std::map<InstanceId, Instance> instances_;
  std::vector<PlayedRequest> known_;
  std::vector<PlayedSequence> sequences_;
  std::map<uint64_t, size_t> open_;  // by id
  std::vector<Running> running_;
  std::map<std::pair<InstanceId, std::string>, Kept> kept_;
  size_t notices_ = 0;
  bool drained_ = false;
};

}  // namespace nereid::schedule
