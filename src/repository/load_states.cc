// SPDX-License-Identifier: Apache-2.0
#include "repository/load_states.h"

#include <chrono>
#include <utility>

namespace nereid::repository {

using base::Status;

LoadStates::Turn::Turn(LoadStates& states, std::set<ModelId> models)
    : states_(&states), models_(std::move(models)) {}

LoadStates::Turn::Turn(Turn&& other) noexcept
    : states_(std::exchange(other.states_, nullptr)), models_(std::move(other.models_)) {}

LoadStates::Turn::~Turn() {
  if (states_ == nullptr) return;
  {
    base::MutexLock lock(states_->mutex_);
    for (const ModelId& id : models_) states_->busy_.erase(id);
  }
  states_->turn_ended_.NotifyAll();
}

bool LoadStates::AreFree(const std::set<ModelId>& models) const {
  for (const ModelId& id : models) {
    if (busy_.contains(id)) return false;
  }
  return true;
}

LoadStates::Turn LoadStates::BeginTurn(std::set<ModelId> models) {
  busy_.insert(models.begin(), models.end());
  return Turn(*this, std::move(models));
}

UnloadPlan LoadStates::MakeUnloadPlan(const std::vector<ModelId>& ids, bool with_members) const {
  if (!with_members) return PlanUnload(catalog_, ids, nullptr);
  std::set<ModelId> wanted;
  for (const auto& [id, state] : states_) {
    if (state.is_wanted) wanted.insert(id);
  }
  return PlanUnload(catalog_, ids, [&wanted](const ModelId& id) { return !wanted.contains(id); });
}

base::Result<LoadStates::Turn> LoadStates::TakeTurn(const Planner& plan,
                                                    const std::function<bool()>& is_abandoned,
                                                    LoadJobs* jobs) {
  while (true) {
    jobs->clear();
    NEREID_RETURN_IF_ERROR(plan(jobs));
    base::MutexLock lock(mutex_);
    std::set<ModelId> models = catalog_.TouchedBy(*jobs);
    if (AreFree(models)) return BeginTurn(std::move(models));
    while (!AreFree(models)) {
      turn_ended_.WaitFor(lock, std::chrono::milliseconds(100));
      lock.Unlock();
      if (is_abandoned && is_abandoned()) {
        return Status::Cancelled("the client went away before the load began");
      }
      lock.Lock();
    }
    // The models are free, but the files may have changed during the wait: plan again.
  }
}

LoadStates::UnloadTurn LoadStates::TakeUnloadTurn(const std::vector<ModelId>& ids,
                                                  bool with_members) {
  base::MutexLock lock(mutex_);
  // The plan depends only on the catalog and the states, which the same mutex guards, so it is
  // never out of date. It is made again after each wait.
  UnloadPlan plan = MakeUnloadPlan(ids, with_members);
  while (!AreFree({plan.order.begin(), plan.order.end()})) {
    turn_ended_.Wait(lock);
    plan = MakeUnloadPlan(ids, with_members);
  }
  Turn turn = BeginTurn({plan.order.begin(), plan.order.end()});
  for (const ModelId& id : plan.leaving) {
    catalog_.Forget(id);
    if (const auto state = states_.find(id); state != states_.end()) {
      state->second.is_wanted = false;
    }
  }
  return {std::move(plan), std::move(turn)};
}

std::vector<ModelId> LoadStates::ModelsNamed(const std::string& name) const {
  std::vector<ModelId> ids;
  base::MutexLock lock(mutex_);
  for (auto it = states_.lower_bound({name}); it != states_.end() && it->first.name == name; ++it) {
    ids.push_back(it->first);
  }
  return ids;
}

LoadBasis LoadStates::BasisOf(const ModelId& id) const {
  base::MutexLock lock(mutex_);
  const auto found = states_.find(id);
  return found == states_.end() ? LoadBasis() : found->second.basis;
}

std::shared_ptr<agent::AgentChain> LoadStates::SetBasis(const ModelId& id, LoadBasis basis,
                                                        std::shared_ptr<agent::AgentChain> agents) {
  base::MutexLock lock(mutex_);
  State& state = states_[id];
  state.basis = std::move(basis);
  state.agents.swap(agents);
  return agents;
}

void LoadStates::SetWanted(const ModelId& id) {
  base::MutexLock lock(mutex_);
  states_[id].is_wanted = true;
}

void LoadStates::SetResult(const ModelId& id, Status result) {
  base::MutexLock lock(mutex_);
  states_[id].result = std::move(result);
}

Status LoadStates::ResultOf(const ModelId& id) const {
  base::MutexLock lock(mutex_);
  const auto found = states_.find(id);
  return found == states_.end() ? Status::Ok() : found->second.result;
}

void LoadStates::Forget(const std::set<ModelId>& ids) {
  base::MutexLock lock(mutex_);
  for (const ModelId& id : ids) states_.erase(id);
}

void LoadStates::RememberEnsemble(const ModelId& id, KnownEnsemble ensemble) {
  base::MutexLock lock(mutex_);
  catalog_.Remember(id, std::move(ensemble));
}

void LoadStates::ForgetEnsemble(const ModelId& id) {
  base::MutexLock lock(mutex_);
  catalog_.Forget(id);
}

config::ModelConfigPtr LoadStates::EnsembleConfig(const ModelId& id) const {
  base::MutexLock lock(mutex_);
  const KnownEnsemble* known = catalog_.Find(id);
  return known == nullptr ? nullptr : known->config;
}

std::optional<ModelId> LoadStates::Resolve(const ModelId& caller, const std::string& name,
                                           const ModelTable& table) const {
  base::MutexLock lock(mutex_);
  return catalog_.Resolve(caller, name, table);
}

MemberIds LoadStates::ResolveMembers(const ModelId& caller, const config::ModelConfig& config,
                                     const ModelTable& table) const {
  base::MutexLock lock(mutex_);
  return catalog_.ResolveMembers(caller, config, table);
}

LoadJobs LoadStates::RepeatCallers(const std::set<ModelId>& ids, const LoadJobs& done) const {
  std::vector<ModelId> callers;
  base::MutexLock lock(mutex_);
  for (const ModelId& id : ids) {
    for (ModelId& caller : catalog_.CallersOf(id)) {
      if (!done.contains(caller)) callers.push_back(std::move(caller));
    }
  }
  return catalog_.RepeatLoads(callers);
}

LoadJobs LoadStates::RepeatRedirected(const ModelTable& table) const {
  base::MutexLock lock(mutex_);
  std::vector<ModelId> ensembles = catalog_.Redirected(table);
  const size_t count = ensembles.size();
  for (size_t i = 0; i < count; ++i) {
    for (ModelId& caller : catalog_.CallersOf(ensembles[i])) ensembles.push_back(std::move(caller));
  }
  return catalog_.RepeatLoads(ensembles);
}

}  // namespace nereid::repository
