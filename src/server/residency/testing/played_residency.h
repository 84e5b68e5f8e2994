// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "server/residency/residency_planner.h"

namespace nereid::server {

/// A server in virtual time, which carries out what a planner decides: loads take time, requests
/// are in flight for a while, memory is freed after a delay. Checks at each event that no model
/// with requests in flight is evicted, that one load runs at a time, that the budget is exceeded by
/// one model at most, and that no pinned model goes.
class PlayedResidency {
 public:
  struct Model {
    uint64_t bytes = 100;      // shown by the first load
    uint64_t file_bytes = 80;  // expected before
    uint64_t load_ns = 50'000'000;
    uint64_t free_ns = 1'000'000;
    bool is_pinned = false;
    bool fails = false;  // its loads fail
    std::set<std::string> members = {};
  };
  struct Outcome {
    size_t hits = 0;    // requests that found their model open
    size_t waited = 0;  // requests that were served after a wait
    size_t refused = 0;
    size_t loads = 0;
    size_t evictions = 0;
    uint64_t longest_wait_ns = 0;
    uint64_t most_bytes = 0;
  };

  PlayedResidency(ResidencyPlanner::Settings settings, std::map<std::string, Model> models)
      : settings_(settings), models_(std::move(models)), planner_(settings) {
    for (const auto& [name, model] : models_) {
      planner_.Know(name, {model.file_bytes, model.is_pinned, model.members});
      uint64_t bytes = 0;
      for (const std::string& each : WithMembersOf(name)) bytes += models_.at(each).bytes;
      largest_ = std::max(largest_, bytes);
    }
  }

  /// Lets a request for the model arrive now, which is executed for `work_ns`. `done` (may be null)
  /// is called at its end, with whether it was served.
  void Request(const std::string& name, uint64_t work_ns, std::function<void(bool)> done = nullptr,
               uint64_t timeout_ns = 0) {
    ++asked_;
    if (open_.contains(name)) {
      ++outcome.hits;
      Begin(name, work_ns, std::move(done));
      return;
    }
    const Ticket ticket = next_ticket_++;
    const uint64_t expires_ns = timeout_ns == 0 ? 0 : now_ns + timeout_ns;
    const auto status = planner_.Ask(ticket, {name, 10, now_ns, expires_ns, false});
    if (!status.ok()) {
      End(false, done);
    } else {
      waiting_[ticket] = {name, work_ns, now_ns, std::move(done)};
    }
    Settle();
  }
  /// Cancels one request that waits, if there is any.
  void CancelOne() {
    if (waiting_.empty()) return;
    const auto found = waiting_.begin();
    EXPECT_TRUE(planner_.Abandon(found->first));
    Refuse(found->first);
    Settle();
  }
  void Forget(const std::string& name) {
    planner_.Forget(name, base::Status::NotFound("unloaded"));
    open_.erase(name);
    if (held_.contains(name)) Free(name);
    Settle();
  }
  void Know(const std::string& name) {
    const Model& model = models_.at(name);
    planner_.Know(name, {model.file_bytes, model.is_pinned, model.members});
    Settle();
  }

  void At(uint64_t time_ns, std::function<void()> event) {
    events_.emplace(time_ns, std::move(event));
  }
  void After(uint64_t delay_ns, std::function<void()> event) {
    At(now_ns + delay_ns, std::move(event));
  }
  /// Plays all events up to this time.
  void RunUntil(uint64_t end_ns) {
    while (!events_.empty() && events_.begin()->first <= end_ns) {
      auto node = events_.extract(events_.begin());
      now_ns = node.key();
      node.mapped()();
      Settle();
    }
    now_ns = end_ns;
  }
  bool AllAnswered() const { return answered_ == asked_; }
  bool IsOpen(const std::string& name) const { return open_.contains(name); }
  bool IsInMemory(const std::string& name) const { return held_.contains(name); }
  const ResidencyPlanner& planner() const { return planner_; }
  size_t Unanswered() const { return asked_ - answered_; }

  uint64_t now_ns = 1'000'000'000;
  uint64_t tick_ns = 5'000'000;  // between the steps while the planner waits
  Outcome outcome;
  std::vector<std::string> log;  // "load m", "evict m"

 private:
  struct Waiting {
    std::string model;
    uint64_t work_ns = 0;
    uint64_t since_ns = 0;
    std::function<void(bool)> done;
  };

  void End(bool served, const std::function<void(bool)>& done) {
    ++answered_;
    if (!served) ++outcome.refused;
    // As an event of its own: `done` may send the next request.
    if (done) After(1, [done, served] { done(served); });
  }
  void Begin(const std::string& name, uint64_t work_ns, std::function<void(bool)> done) {
    EXPECT_TRUE(held_.contains(name)) << name;
    Use(name, 1);
    After(work_ns, [this, name, done = std::move(done)] {
      Use(name, -1);
      End(true, done);
    });
  }
  /// Counts a request in the model; an ensemble's request is in flight in its members too.
  void Use(const std::string& name, int change) {
    ModelUse& use = uses_[name];
    use.last_used_ns = std::max(use.last_used_ns, change > 0 ? now_ns : 0);
    in_flight_[name] += change;
    use.is_busy = in_flight_[name] > 0;
    for (const std::string& member : models_.at(name).members) Use(member, change);
  }
  void Refuse(Ticket ticket) {
    auto node = waiting_.extract(ticket);
    End(false, node.mapped().done);
  }
  void Free(const std::string& name) {
    const uint64_t bytes = held_.at(name);
    After(models_.at(name).free_ns, [this, name, bytes] {
      if (!held_.contains(name)) return;
      held_.erase(name);
      planner_.Held(name, 0, 0, bytes, now_ns);
    });
  }

  void Settle() {
    for (const Ticket ticket : planner_.TakeExpired(now_ns)) Refuse(ticket);
    for (int round = 0;; ++round) {
      ASSERT_LT(round, 1000) << "the planner does not come to rest";
      auto actions = planner_.Step(now_ns, uses_);
      if (actions.empty()) break;
      for (auto& action : actions) Carry(action);
    }
    outcome.most_bytes = std::max(outcome.most_bytes, planner_.HeldBytes());
    EXPECT_LE(planner_.HeldBytes(), settings_.budget_bytes + largest_);
    if (planner_.IsWaiting() && !ticks_) {
      ticks_ = true;
      After(tick_ns, [this] { ticks_ = false; });
    }
  }

  void Carry(const ResidencyPlanner::Action& action) {
    using Order = ResidencyPlanner::Order;
    switch (action.order) {
      case Order::kOpen:
        EXPECT_TRUE(held_.contains(action.model));
        open_.insert(action.model);
        return;
      case Order::kClose:
        CheckVictim(action.model);
        open_.erase(action.model);
        return;
      case Order::kLoad:
        return CarryLoad(action.model);
      case Order::kEvict:
        EXPECT_EQ(in_flight_[action.model], 0) << action.model << " is busy";
        EXPECT_FALSE(open_.contains(action.model));
        ++outcome.evictions;
        log.push_back("evict " + action.model);
        Free(action.model);
        planner_.Retired(action.model);
        return;
      case Order::kServe:
        for (const Ticket ticket : action.tickets) {
          auto node = waiting_.extract(ticket);
          ++outcome.waited;
          outcome.longest_wait_ns =
              std::max(outcome.longest_wait_ns, now_ns - node.mapped().since_ns);
          Begin(action.model, node.mapped().work_ns, std::move(node.mapped().done));
        }
        planner_.Served(action.model);
        return;
      case Order::kRefuse:
        EXPECT_FALSE(action.status.ok());
        for (const Ticket ticket : action.tickets) Refuse(ticket);
        return;
    }
  }

  void CarryLoad(const std::string& root) {
    EXPECT_FALSE(loads_) << "two loads at a time";
    EXPECT_LE(planner_.HeldBytes(), settings_.budget_bytes) << "a load begins above the budget";
    loads_ = true;
    ++outcome.loads;
    log.push_back("load " + root);
    uint64_t load_ns = 0;
    std::vector<std::string> absent;
    for (const std::string& name : WithMembersOf(root)) {
      if (held_.contains(name)) continue;
      absent.push_back(name);
      load_ns += models_.at(name).load_ns;
    }
    After(load_ns, [this, root, absent] {
      loads_ = false;
      const bool fails = models_.at(root).fails;
      for (const std::string& name : absent) {
        if (fails && name == root) continue;
        held_[name] = models_.at(name).bytes;
        planner_.Held(name, held_[name], 1, held_[name], now_ns);
      }
      planner_.LoadEnded(root, fails ? base::Status::Internal("it is bad") : base::Status::Ok(),
                         now_ns);
    });
  }
  std::set<std::string> WithMembersOf(const std::string& root) const {
    std::set<std::string> all = {root};
    for (const std::string& member : models_.at(root).members) {
      for (const std::string& name : WithMembersOf(member)) all.insert(name);
    }
    return all;
  }
  void CheckVictim(const std::string& victim) {
    EXPECT_FALSE(models_.at(victim).is_pinned);
    if (on_victim) on_victim(victim);
  }

 public:
  std::function<void(const std::string&)> on_victim;
  uint64_t LastUse(const std::string& name) const {
    const auto found = uses_.find(name);
    return found == uses_.end() ? 0 : found->second.last_used_ns;
  }
  const std::map<std::string, uint64_t>& held() const { return held_; }

 private:
  const ResidencyPlanner::Settings settings_;
  const std::map<std::string, Model> models_;
  ResidencyPlanner planner_;
  uint64_t largest_ = 0;
  std::multimap<uint64_t, std::function<void()>> events_;
  std::map<std::string, uint64_t> held_;
  std::set<std::string> open_;
  std::map<std::string, int> in_flight_;
  ModelUses uses_;
  std::map<Ticket, Waiting> waiting_;
  Ticket next_ticket_ = 1;
  size_t asked_ = 0;
  size_t answered_ = 0;
  bool loads_ = false;
  bool ticks_ = false;
};

}  // namespace nereid::server
