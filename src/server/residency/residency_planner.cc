// SPDX-License-Identifier: Apache-2.0
#include "server/residency/residency_planner.h"

#include <algorithm>
#include <utility>

namespace nereid::server {

using base::Status;

namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;

/// Returns for how long requests are refused after this many failed loads.
uint64_t RefusalNs(uint32_t failures) {
  return kSecondNs << std::min<uint32_t>(failures == 0 ? 0 : failures - 1, 6);
}

Status TooLarge(const std::string& name, uint64_t bytes, uint64_t budget, uint64_t pinned) {
  std::string text = "model '" + name + "' needs " + std::to_string(bytes) +
                     " bytes of memory, but --model-memory-budget is " + std::to_string(budget) +
                     " bytes";
  if (pinned > 0) text += ", of which pinned models hold " + std::to_string(pinned);
  return Status::Unavailable(text + "; raise the budget" +
                             (pinned > 0 ? " or pin fewer models" : ""));
}

}  // namespace

// ---- Events ----

void ResidencyPlanner::Know(const std::string& name, Facts facts) {
  ResidentModel& model = models_[name];
  model.is_known = true;
  model.is_pinned = facts.is_pinned;
  model.members = std::move(facts.members);
  if (!model.is_measured) model.expected_bytes = facts.expected_bytes;
  model.refused_until_ns = 0;
  model.failures = 0;
}

void ResidencyPlanner::Forget(const std::string& name, const Status& reason) {
  const auto found = models_.find(name);
  if (found == models_.end()) return;
  ResidentModel& model = found->second;
  model.is_known = false;
  model.is_pinned = false;
  const bool is_in_memory =
      model.residence == Residence::kResident || model.residence == Residence::kDraining;
  if (is_in_memory) {
    // The caller removes it from the table.
    model.residence = Residence::kLeaving;
    model.is_retired = true;
  }
  model.is_open = false;
  Refuse(name, reason, &pending_);
}

Status ResidencyPlanner::Ask(Ticket ticket, WaitLine::Waiting waiting) {
  const auto found = models_.find(waiting.model);
  if (found == models_.end() || !found->second.is_known) {
    return Status::Unavailable("model '" + waiting.model + "' is not in memory and is not loaded " +
                               "for requests, because it was unloaded by name");
  }
  const ResidentModel& model = found->second;
  if (!waiting.is_load && waiting.since_ns < model.refused_until_ns) return model.refusal;
  latest_ = ticket;
  return line_.Admit(ticket, std::move(waiting));
}

void ResidencyPlanner::LoadEnded(const std::string& name, const Status& result, uint64_t now_ns) {
  const Load load = std::exchange(loading_, std::nullopt).value_or(Load{name, {name}, now_ns});
  uint64_t bytes = 0;
  for (const std::string& each : load.models) {
    ResidentModel& model = models_[each];
    bytes += model.held_bytes;
    if (model.residence != Residence::kAbsent || model.objects == 0) continue;
    model.residence = Residence::kResident;
    model.since_ns = now_ns;
    model.load_ns = now_ns - std::min(now_ns, load.begin_ns);
  }
  ResidentModel& root = models_[load.root];
  Status status = result;
  const uint64_t pinned = PinnedBytes(models_, load.models);
  if (status.ok() && bytes > settings_.budget_bytes - std::min(settings_.budget_bytes, pinned)) {
    status = TooLarge(load.root, bytes, settings_.budget_bytes, pinned);
    root.failures = 6;  // its size will not change soon
    for (const std::string& each : load.models) {
      if (!models_[each].is_pinned || each == load.root) StartDrain(each, now_ns, &pending_);
    }
  }
  if (status.ok()) {
    root.failures = 0;
    root.refused_until_ns = 0;
    if (root.objects == 0) status = Status::Unavailable("model '" + name + "' was unloaded");
  }
  if (status.ok()) {
    const std::vector<Ticket> tickets = line_.TakeAll(load.root, load.last);
    if (tickets.empty()) return;
    root.is_serving = true;
    pending_.push_back({Order::kServe, load.root, tickets});
    return;
  }
  ++root.failures;
  root.refusal = status;
  root.refused_until_ns = now_ns + RefusalNs(root.failures);
  pending_.push_back({Order::kRefuse, load.root, line_.TakeAll(load.root, load.last), status});
  if (!line_.WaitsForLoad(load.root)) Refuse(load.root, status, &pending_);
}

void ResidencyPlanner::Held(const std::string& name, uint64_t bytes, size_t objects,
                            uint64_t expected_bytes, uint64_t now_ns) {
  ResidentModel& model = models_[name];
  const bool has_grown = objects > model.objects;
  model.held_bytes = bytes;
  model.objects = objects;
  if (has_grown) {
    model.expected_bytes = expected_bytes;
    model.is_measured = true;
  }
  if (objects == 0) {
    if (model.is_open) pending_.push_back({Order::kClose, name});
    model.is_open = false;
    model.residence = Residence::kAbsent;
    return;
  }
  // A poll or the load of a member can bring a model into memory that nobody has asked for.
  const bool is_being_loaded = loading_ && loading_->models.contains(name);
  const bool is_back = model.residence == Residence::kLeaving && model.is_retired && has_grown;
  if (is_back || (model.residence == Residence::kAbsent && !is_being_loaded)) {
    model.residence = Residence::kResident;
    model.is_known = true;
    model.since_ns = now_ns;
  }
}

void ResidencyPlanner::Retired(const std::string& name) {
  ResidentModel& model = models_[name];
  model.is_retired = true;
}

void ResidencyPlanner::Served(const std::string& name) { models_[name].is_serving = false; }

// ---- Decisions ----

ResidencyPlanner::Actions ResidencyPlanner::Step(uint64_t now_ns, const ModelUses& uses) {
  Actions actions = std::exchange(pending_, {});
  FinishDrains(now_ns, uses, &actions);
  EvictForgotten(now_ns, &actions);
  ServeResident(&actions);
  if (!loading_) StartNext(now_ns, uses, &actions);
  OpenReady(&actions);
  return actions;
}

void ResidencyPlanner::FinishDrains(uint64_t now_ns, const ModelUses& uses, Actions* actions) {
  for (auto& [name, model] : models_) {
    if (model.residence != Residence::kDraining || model.is_serving) continue;
    const ModelUse use = UseWithCallers(models_, name, uses);
    if (!use.is_busy && !use.has_sequences && !HasCallers(models_, name)) {
      model.residence = Residence::kLeaving;
      model.is_retired = false;
      actions->push_back({Order::kEvict, name});
    } else if (model.is_known &&
               now_ns - std::min(now_ns, model.since_ns) > settings_.max_drain_ns) {
      model.residence = Residence::kResident;
      model.since_ns = now_ns;
    }
  }
}

void ResidencyPlanner::EvictForgotten(uint64_t now_ns, Actions* actions) {
  // A load that was in progress when its model was unloaded by name has brought it back.
  for (const auto& [name, model] : models_) {
    if (!model.is_known && model.residence == Residence::kResident) {
      StartDrain(name, now_ns, actions);
    }
  }
}

void ResidencyPlanner::ServeResident(Actions* actions) {
  for (auto& [name, model] : models_) {
    const bool is_ready = model.residence == Residence::kResident && !model.is_serving;
    if (!is_ready || !line_.Waits(name) || line_.WaitsForLoad(name)) continue;
    model.is_serving = true;
    actions->push_back({Order::kServe, name, line_.TakeAll(name)});
  }
}

void ResidencyPlanner::StartNext(uint64_t now_ns, const ModelUses& uses, Actions* actions) {
  const uint64_t budget = settings_.budget_bytes;
  const uint64_t held = HeldBytes();
  const uint64_t leaving = LeavingBytes(models_);
  const std::set<std::string> none;
  const std::string* const first = line_.First();
  if (first == nullptr) {
    const VictimRules rules{none, settings_.min_residence_ns, now_ns, false};
    if (held - leaving > budget) Free(held - leaving - budget, rules, uses, actions);
    return;
  }
  const std::string name = *first;
  if (now_ns - std::min(now_ns, line_.Since(name)) > settings_.max_wait_ns) {
    const Status status = Status::Unavailable(
        "model '" + name + "' is not in memory, and there was no room for it in " +
        std::to_string(settings_.max_wait_ns / kSecondNs) +
        " s: the models within --model-memory-budget are pinned or in use");
    return Refuse(name, status, actions);
  }
  const std::set<std::string> needed = WithMembers(models_, name);
  uint64_t expected = 0;
  uint64_t present = 0;
  for (const std::string& each : needed) {
    ResidentModel& model = models_[each];
    if (!model.is_known) {
      return Refuse(name,
                    Status::Unavailable("model '" + name + "' cannot be loaded, because '" + each +
                                        "' is not in the model repositories or was unloaded"),
                    actions);
    }
    if (model.residence == Residence::kLeaving) return;  // until it is destroyed
    if (model.residence == Residence::kDraining) {
      model.residence = Residence::kResident;
      return;  // the next step serves it
    }
    present += model.held_bytes;
    if (model.residence == Residence::kAbsent) expected += model.expected_bytes;
  }
  const uint64_t pinned = PinnedBytes(models_, needed);
  const uint64_t most = budget - std::min(budget, pinned + present);
  const bool is_measured = models_[name].is_measured;
  const bool is_absent = models_[name].residence == Residence::kAbsent;
  if (!is_absent && !line_.WaitsForLoad(name)) return;  // its first requests are being submitted
  if (is_absent && ((is_measured && expected > most) || (pinned > 0 && pinned >= budget))) {
    return Refuse(name, TooLarge(name, present + expected, budget, pinned), actions);
  }
  expected = std::min(expected, most);
  if (held + expected <= budget || !is_absent) {
    loading_ = Load{name, needed, now_ns, latest_};
    actions->push_back({Order::kLoad, name});
    return;
  }
  const uint64_t free = held + expected - budget;
  if (free <= leaving) return;  // until they are destroyed
  const VictimRules for_load{needed, settings_.min_residence_ns, now_ns, true};
  Free(free - leaving, for_load, uses, actions);
}

void ResidencyPlanner::Free(uint64_t bytes, const VictimRules& rules, const ModelUses& uses,
                            Actions* actions) {
  uint64_t freed = 0;
  while (freed < bytes) {
    const auto victim = ChooseVictim(models_, rules, uses);
    if (!victim) return;
    freed += models_[*victim].held_bytes;
    StartDrain(*victim, rules.now_ns, actions);
  }
}

void ResidencyPlanner::StartDrain(const std::string& name, uint64_t now_ns, Actions* actions) {
  std::vector<std::string> left = {name};
  while (!left.empty()) {
    const std::string next = std::move(left.back());
    left.pop_back();
    ResidentModel& model = models_[next];
    if (model.residence != Residence::kResident) continue;
    model.residence = Residence::kDraining;
    model.since_ns = now_ns;
    if (model.is_open) actions->push_back({Order::kClose, next});
    model.is_open = false;
    for (const auto& [caller, other] : models_) {
      if (other.members.contains(next)) left.push_back(caller);
    }
  }
}

void ResidencyPlanner::OpenReady(Actions* actions) {
  for (auto& [name, model] : models_) {
    const bool is_ready = model.residence == Residence::kResident && !model.is_serving;
    if (!is_ready || model.is_open || (line_.Waits(name) && !line_.WaitsForLoad(name))) continue;
    model.is_open = true;
    actions->push_back({Order::kOpen, name});
  }
}

void ResidencyPlanner::Refuse(const std::string& name, const Status& status, Actions* actions) {
  std::vector<Ticket> tickets = line_.TakeAll(name);
  if (!tickets.empty()) actions->push_back({Order::kRefuse, name, std::move(tickets), status});
}

bool ResidencyPlanner::IsDraining() const {
  return std::any_of(models_.begin(), models_.end(), [](const auto& entry) {
    return entry.second.residence == Residence::kDraining;
  });
}

bool ResidencyPlanner::IsWaiting() const {
  return line_.size() > 0 || IsDraining() || HeldBytes() > settings_.budget_bytes;
}

bool ResidencyPlanner::HasRoomFor(const std::string& name) const {
  uint64_t expected = HeldBytes();
  for (const std::string& each : WithMembers(models_, name)) {
    const auto found = models_.find(each);
    if (found == models_.end() || found->second.objects > 0) continue;
    expected += found->second.expected_bytes;
  }
  return expected <= settings_.budget_bytes;
}

bool ResidencyPlanner::IsResident(const std::string& name) const {
  const auto found = models_.find(name);
  return found != models_.end() && found->second.objects > 0;
}

}  // namespace nereid::server
