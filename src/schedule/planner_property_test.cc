// SPDX-License-Identifier: Apache-2.0
// Random schedules, played to a planner and to a plain model of what it promises. Every choice is
// compared with the model's, which starts from the whole queue each time.
//
// NEREID_PROPERTY_SEED repeats a run; NEREID_PROPERTY_EVENTS sets its length.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include "request/testing/make_model.h"
#include "schedule/direct/direct_planner.h"
#include "schedule/dynamic/dynamic_planner.h"

namespace nereid::schedule {
namespace {

using config::QueuePolicy;
using telemetry::FailureReason;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr uint64_t kDefaultEvents = 100'000;
#else
constexpr uint64_t kDefaultEvents = 1'500'000;
#endif

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// What the test knows of a request that waits.
struct Known {
  uint64_t id = 0;
  uint64_t level = 0;
  uint64_t size = 1;
  int64_t columns = 1;
  uint64_t arrival_ns = 0;
  uint64_t move_ns = kNever;
  uint64_t refuse_ns = kNever;
  bool refused_by_deadline = false;
  std::shared_ptr<request::Cancellation> cancellation;
};

struct Setting {
  bool dynamic = true;
  uint64_t max_batch = 8;
  uint64_t delay_ns = 0;
  bool before_timeout = false;
  std::vector<uint64_t> preferred;
  uint64_t levels = 0;
  uint64_t default_level = 0;
  QueuePolicy default_policy;
  std::map<uint64_t, QueuePolicy> policies;
  int instances = 1;

  const QueuePolicy& PolicyOf(uint64_t level) const {
    const auto found = policies.find(level);
    return found == policies.end() ? default_policy : found->second;
  }
};

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t Below(uint64_t bound) { return bound == 0 ? 0 : engine_() % bound; }
  bool Chance(uint64_t percent) { return Below(100) < percent; }

 private:
  std::mt19937_64 engine_;
};

QueuePolicy RandomPolicy(Random& random) {
  QueuePolicy policy;
  if (random.Chance(40)) policy.max_queue_size = static_cast<uint32_t>(1 + random.Below(12));
  if (random.Chance(50)) policy.default_timeout_us = 1 + random.Below(60);
  if (random.Chance(5)) policy.default_timeout_us = UINT64_MAX - random.Below(3);
  policy.allow_timeout_override = random.Chance(50);
  if (random.Chance(40)) policy.timeout_action = QueuePolicy::TimeoutAction::kDelay;
  return policy;
}

Setting RandomSetting(Random& random) {
  Setting setting;
  setting.instances = static_cast<int>(1 + random.Below(3));
  setting.max_batch = 1 + random.Below(12);
  setting.dynamic = random.Chance(90);
  if (!setting.dynamic) return setting;
  if (random.Chance(60)) setting.delay_ns = 1'000 * (1 + random.Below(50));
  setting.before_timeout = random.Chance(30);
  for (uint64_t n = random.Below(3); n > 0; --n) {
    setting.preferred.push_back(1 + random.Below(setting.max_batch));
  }
  if (setting.preferred.empty()) setting.preferred.push_back(setting.max_batch);  // as configured
  setting.default_policy = RandomPolicy(random);
  if (random.Chance(60)) {
    setting.levels = 1 + random.Below(4);
    setting.default_level = 1 + random.Below(setting.levels);
    for (uint64_t level = 1; level <= setting.levels; ++level) {
      if (random.Chance(40)) setting.policies[level] = RandomPolicy(random);
    }
  }
  return setting;
}

std::string PolicyText(const QueuePolicy& policy) {
  return "{ max_queue_size: " + std::to_string(policy.max_queue_size) +
         " default_timeout_microseconds: " + std::to_string(policy.default_timeout_us) +
         " allow_timeout_override: " + (policy.allow_timeout_override ? "true" : "false") +
         " timeout_action: " +
         (policy.timeout_action == QueuePolicy::TimeoutAction::kDelay ? "DELAY" : "REJECT") + " }";
}

std::string ConfigText(const Setting& setting) {
  std::string text = "name: \"m\" max_batch_size: " + std::to_string(setting.max_batch) +
                     " input { name: \"V\" data_type: TYPE_INT8 dims: [ -1 ] }";
  if (!setting.dynamic) return text;
  text += " dynamic_batching { max_queue_delay_microseconds: " +
          std::to_string(setting.delay_ns / 1'000) + " default_queue_policy " +
          PolicyText(setting.default_policy);
  for (const uint64_t size : setting.preferred) {
    text += " preferred_batch_size: " + std::to_string(size);
  }
  if (setting.levels > 0) {
    text += " priority_levels: " + std::to_string(setting.levels) +
            " default_priority_level: " + std::to_string(setting.default_level);
  }
  for (const auto& [level, policy] : setting.policies) {
    text += " priority_queue_policy { key: " + std::to_string(level) + " value " +
            PolicyText(policy) + " }";
  }
  text += " }";
  if (setting.before_timeout) {
    text += " parameters { key: \"batch_before_timeout\" value { string_value: \"true\" } }";
  }
  return text;
}

/// The queue as it is promised to be: plain lists, nothing remembered between two looks.
class ModelQueue {
 public:
  explicit ModelQueue(const Setting& setting) : setting_(setting) {}

  bool IsFull(uint64_t level) const {
    const uint32_t bound = setting_.PolicyOf(level).max_queue_size;
    uint64_t there = 0;
    for (const Known& known : waiting_) there += known.level == level ? 1 : 0;
    for (const Known& known : delayed_) there += known.level == level ? 1 : 0;
    return setting_.dynamic && bound != 0 && there >= bound;
  }
  void Add(Known known) { waiting_.push_back(std::move(known)); }
  size_t size() const { return waiting_.size() + delayed_.size(); }

  /// In the order in which they must be served.
  std::vector<const Known*> Order() const {
    std::vector<const Known*> order;
    for (const Known& known : waiting_) order.push_back(&known);
    for (const Known& known : delayed_) order.push_back(&known);
    // Both lists are in order of arrival (of the move): a stable sort keeps that within a level.
    std::stable_sort(order.begin(), order.end(),
                     [](const Known* a, const Known* b) { return a->level < b->level; });
    return order;
  }
  /// Moves what must be moved; in the order of the times.
  void Move(uint64_t now_ns) {
    std::vector<Known> moved;
    for (const Known& known : waiting_) {
      if (known.move_ns <= now_ns && known.refuse_ns > now_ns) moved.push_back(known);
    }
    std::stable_sort(moved.begin(), moved.end(),
                     [](const Known& a, const Known& b) { return a.move_ns < b.move_ns; });
    for (Known& known : moved) {
      std::erase_if(waiting_, [&](const Known& other) { return other.id == known.id; });
      known.move_ns = kNever;
      delayed_.push_back(std::move(known));
    }
  }
  /// Takes a request out; fails the test if it is not there.
  Known Take(uint64_t id) {
    for (std::vector<Known>* list : {&waiting_, &delayed_}) {
      const auto found = std::find_if(list->begin(), list->end(),
                                      [id](const Known& known) { return known.id == id; });
      if (found == list->end()) continue;
      Known known = *found;
      list->erase(found);
      return known;
    }
    ADD_FAILURE() << "request " << id << " left twice";
    return {};
  }

 private:
  const Setting& setting_;
  std::vector<Known> waiting_, delayed_;
};

/// How many to run now, straight from the description; 0: none before wake_ns.
struct Expected {
  size_t requests = 0;
  uint64_t wake_ns = kNever;
};

Expected Select(const Setting& setting, const std::vector<const Known*>& order, uint64_t now_ns) {
  if (order.empty()) return {};
  if (!setting.dynamic) return {1, kNever};
  const uint64_t largest = *std::max_element(setting.preferred.begin(), setting.preferred.end());
  const auto is_preferred = [&](uint64_t size) {
    return std::find(setting.preferred.begin(), setting.preferred.end(), size) !=
           setting.preferred.end();
  };
  size_t pending = 0, best = 0;
  uint64_t size = 0, oldest = kNever, earliest = kNever;
  bool send_now = false;
  for (const Known* known : order) {
    if (pending > 0) {
      if (best == 0 && size + known->size > largest) best = pending;
      if (size + known->size > setting.max_batch || known->columns != order[0]->columns) {
        send_now = true;
        break;
      }
    }
    ++pending;
    size += known->size;
    oldest = std::min(oldest, known->arrival_ns);
    if (known->refused_by_deadline || setting.before_timeout) {
      earliest = std::min(earliest, known->refuse_ns);
    }
    if (is_preferred(size)) best = pending;
  }
  const bool exceeded = setting.delay_ns != 0 && now_ns - oldest >= setting.delay_ns;
  if (best > 0 && !exceeded) return {best, kNever};
  if (send_now || size >= largest || exceeded || setting.delay_ns == 0) return {pending, kNever};
  const uint64_t margin = DynamicPlanner::kDeadlineMarginNs;
  const uint64_t hurry = earliest == kNever ? kNever : earliest - std::min(earliest, margin);
  if (now_ns >= hurry) return {pending, kNever};
  return {0, std::min(oldest + setting.delay_ns, hurry)};
}

class Play {
 public:
  Play(const Setting& setting, Random& random)
      : setting_(setting),
        random_(random),
        identity_(request::MakeModel(ConfigText(setting))),
        queue_(setting),
        idle_(setting.instances) {
    if (setting.dynamic) {
      planner_ = std::make_unique<DynamicPlanner>(*identity_->config);
    } else {
      planner_ = std::make_unique<DirectPlanner>();
    }
  }

  void Run(uint64_t events) {
    for (uint64_t i = 0; i < events && !::testing::Test::HasFailure(); ++i) {
      const uint64_t what = random_.Below(100);
      if (what < 45) {
        Arrive();
      } else if (what < 50) {
        CancelOne();
      } else if (what < 75) {
        if (idle_ < setting_.instances) ++idle_;
      } else {
        Advance(1 + random_.Below(20'000));
      }
      Settle();
    }
    idle_ = 1;
    while (queue_.size() > 0 && !::testing::Test::HasFailure()) {
      Settle();
      idle_ = 1;
      Advance(1'000'000);
    }
    EXPECT_EQ(planner_->size(), 0u);
    EXPECT_EQ(planner_->NextExpiry(), kNever);
    EXPECT_EQ(accepted_, left_);
  }

 private:
  void Arrive() {
    Known known;
    known.id = next_id_++;
    auto request = std::make_unique<request::InferenceRequest>();
    known.size = random_.Below(4) == 0 ? 1 + random_.Below(setting_.max_batch) : 1;
    known.columns = random_.Chance(10) ? 2 : 1;
    request->times.start_ns = known.id;
    request->batch_size = static_cast<uint32_t>(known.size);
    EXPECT_TRUE(request
                    ->AddInput("V", tensor::DataType::kInt8,
                               {static_cast<int64_t>(known.size), known.columns})
                    .ok());
    request->priority = random_.Below(6);
    if (random_.Chance(20))
      request->timeout_us = random_.Chance(5) ? UINT64_MAX : random_.Below(40);
    if (random_.Chance(10)) request->deadline_ns = now_ns_ + random_.Below(2'000'000);
    known.level = request->priority == 0 || request->priority > setting_.levels
                      ? setting_.default_level
                      : request->priority;
    known.arrival_ns = now_ns_;
    SetTimes(*request, &known);
    known.cancellation = request->cancellation();
    if (random_.Chance(2)) known.cancellation->Cancel();
    const bool full = queue_.IsFull(known.level);
    const base::Status status = planner_->Push(request, now_ns_);
    ASSERT_EQ(status.ok(), !full);
    ASSERT_EQ(request != nullptr, full);
    if (full) return;
    ++accepted_;
    alive_.push_back(known.cancellation);
    queue_.Add(std::move(known));
  }

  void SetTimes(const request::InferenceRequest& request, Known* known) const {
    const QueuePolicy& policy = setting_.PolicyOf(known->level);
    if (request.deadline_ns != 0) known->refuse_ns = request.deadline_ns;
    known->refused_by_deadline = true;
    if (!setting_.dynamic) return;
    uint64_t timeout_us = policy.default_timeout_us;
    if (policy.allow_timeout_override && request.timeout_us != 0) {
      timeout_us = std::min(timeout_us, request.timeout_us);
    }
    if (timeout_us == 0 || timeout_us > UINT64_MAX / 2) return;
    const uint64_t end = now_ns_ + timeout_us * 1'000;
    if (policy.timeout_action == QueuePolicy::TimeoutAction::kDelay) {
      known->move_ns = end;
    } else {
      known->refused_by_deadline = known->refuse_ns < end;
      known->refuse_ns = std::min(known->refuse_ns, end);
    }
  }

  void CancelOne() {
    if (alive_.empty()) return;
    const size_t chosen = random_.Below(alive_.size());
    alive_[chosen]->Cancel();
    alive_[chosen] = alive_.back();
    alive_.pop_back();
    if (random_.Chance(50)) return;  // noticed later
    std::vector<Refusal> refused;
    planner_->DropCancelled(0, &refused);
    Leave(refused);
    for (const Known* known : queue_.Order()) ASSERT_FALSE(known->cancellation->IsCancelled());
  }

  /// Moves time on, stopping wherever a driver's timer would fire.
  void Advance(uint64_t step_ns) {
    const uint64_t end = now_ns_ + step_ns;
    while (now_ns_ < end && !::testing::Test::HasFailure()) {
      now_ns_ = std::max(now_ns_, std::min({end, planner_->NextExpiry(), wake_ns_}));
      Settle();
    }
  }

  /// What a driver does after each event.
  void Settle() {
    std::vector<Refusal> refused;
    planner_->Expire(now_ns_, &refused);
    queue_.Move(now_ns_);
    Leave(refused);
    for (const Known* known : queue_.Order()) {
      ASSERT_GT(known->refuse_ns, now_ns_);  // whoever has timed out has been answered
      ASSERT_GT(known->move_ns, now_ns_);
    }
    wake_ns_ = kNever;
    while (idle_ > 0 && !::testing::Test::HasFailure()) {
      if (random_.Chance(10)) planner_->ReadyAt(now_ns_, 0);
      std::vector<Refusal> refused_now;
      Decision decision = planner_->Next(now_ns_, 0, &refused_now);
      Leave(refused_now);
      if (!decision.batch) {
        CheckNone(decision.wake_ns);
        return;
      }
      CheckBatch(*decision.batch);
      --idle_;
    }
    ASSERT_EQ(planner_->size(), queue_.size());
  }

  void CheckNone(uint64_t wake_ns) {
    const Expected expected = Select(setting_, queue_.Order(), now_ns_);
    ASSERT_EQ(expected.requests, 0u);
    ASSERT_EQ(expected.wake_ns, wake_ns);
    ASSERT_GT(wake_ns, now_ns_);
    if (setting_.delay_ns == 0) {
      ASSERT_EQ(queue_.size(), 0u);
    }
    wake_ns_ = wake_ns;
    ASSERT_EQ(planner_->size(), queue_.size());
  }

  void CheckBatch(const Batch& batch) {
    const std::vector<const Known*> order = queue_.Order();
    ASSERT_EQ(Select(setting_, order, now_ns_).requests, batch.requests.size());
    uint64_t size = 0, oldest = kNever;
    for (size_t i = 0; i < batch.requests.size(); ++i) {
      const Known& known = *order[i];
      ASSERT_EQ(batch.requests[i]->times.start_ns, known.id);  // in the promised order
      ASSERT_EQ(known.columns, order[0]->columns);
      ASSERT_FALSE(known.cancellation->IsCancelled());
      ASSERT_GT(known.refuse_ns, now_ns_);
      size += known.size;
      oldest = std::min(oldest, known.arrival_ns);
    }
    ASSERT_LE(size, setting_.max_batch);
    ASSERT_EQ(size, batch.batch_size);
    ASSERT_EQ(oldest, batch.oldest_arrival_ns);
    for (const RequestPtr& request : batch.requests) queue_.Take(request->times.start_ns);
    left_ += batch.requests.size();
    ASSERT_EQ(batch.left_in_queue, queue_.size());
    Forget();
  }

  void Leave(const std::vector<Refusal>& refused) {
    for (const Refusal& refusal : refused) {
      const Known known = queue_.Take(refusal.request->times.start_ns);
      const bool canceled = refusal.reason == FailureReason::kCanceled;
      ASSERT_TRUE(canceled || refusal.reason == FailureReason::kRejected);
      ASSERT_EQ(refusal.error.code(),
                canceled ? base::StatusCode::kCancelled : base::StatusCode::kUnavailable);
      if (canceled && refusal.request->IsCancelled()) continue;
      ASSERT_LE(known.refuse_ns, now_ns_);  // not before its time
      ASSERT_EQ(canceled, known.refused_by_deadline);
    }
    left_ += refused.size();
    Forget();
  }

  /// Keeps the list of what can be cancelled short.
  void Forget() {
    if (alive_.size() < 2 * queue_.size() + 16) return;
    alive_.clear();
    for (const Known* known : queue_.Order()) alive_.push_back(known->cancellation);
  }

  const Setting setting_;
  Random& random_;
  const std::shared_ptr<const request::ModelIdentity> identity_;
  std::unique_ptr<BatchPlanner> planner_;
  ModelQueue queue_;
  std::vector<std::shared_ptr<request::Cancellation>> alive_;
  uint64_t now_ns_ = 1'000'000'000;
  uint64_t wake_ns_ = kNever;
  uint64_t next_id_ = 0;
  uint64_t accepted_ = 0, left_ = 0;
  int idle_;
};

TEST(PlannerPropertyTest, RandomSchedulesKeepEveryPromise) {
  const uint64_t seed = FromEnvironment("NEREID_PROPERTY_SEED", std::random_device{}());
  const uint64_t events = FromEnvironment("NEREID_PROPERTY_EVENTS", kDefaultEvents);
  std::cout << "NEREID_PROPERTY_SEED=" << seed << " NEREID_PROPERTY_EVENTS=" << events << std::endl;
  Random random(seed);
  constexpr uint64_t kEventsPerSetting = 1'000;
  for (uint64_t played = 0; played < events && !HasFailure(); played += kEventsPerSetting) {
    const Setting setting = RandomSetting(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", after " + std::to_string(played) +
                 " events: " + ConfigText(setting));
    Play(setting, random).Run(kEventsPerSetting);
  }
}

}  // namespace
}  // namespace nereid::schedule
