// SPDX-License-Identifier: Apache-2.0
// ModelLifecycle: what ensembles add to loading and unloading: order, callers, members.
#include <algorithm>
#include <condition_variable>

#include "base/files.h"
#include "base/log.h"
#include "base/threads.h"
#include "model_config.pb.h"
#include "repository/ensemble_links.h"
#include "repository/load_order.h"
#include "repository/model_lifecycle.h"

namespace nereid::repository {

using base::Status;

Status ModelLifecycle::Link(const LoadJob& job, PolledModel* polled) {
  const ModelId id = IdOf(job.directory);
  const config::ModelConfigPtr config = polled->basis.config;
  if (!config->is_ensemble()) {
    std::lock_guard lock(mutex_);
    ensembles_.erase(id);
    return Status::Ok();
  }
  const MemberIds members = ResolveMembers(id, *config);
  {
    std::lock_guard lock(mutex_);
    ensembles_[id] = {job, config, members};
  }
  const auto table = Table();
  EnsembleSurroundings surroundings{*table};
  surroundings.resolve = [&](const ModelId& caller, const std::string& name) {
    return caller == id ? members.at(name) : ResolveMember(caller, name);
  };
  surroundings.failure_of = [this](const ModelId& member) {
    std::lock_guard lock(mutex_);
    const auto found = states_.find(member);
    return found == states_.end() ? Status::Ok() : found->second.failure;
  };
  surroundings.config_of = [this](const ModelId& member) { return ConfigOfUnserved(member); };
  auto linked = LinkEnsemble(id, *config, surroundings);
  if (linked.ok()) {
    polled->basis.config = std::move(linked).value();
    return Status::Ok();
  }
  LOG_ERROR << "failed to load '" << id << "': " << linked.status().message();
  if (polled->agents != nullptr) polled->agents->LoadFail();
  // What serves was made for members that are not there any more.
  Retire(id);
  return Status::InvalidArgument("load failed for model '" + ToText(id) +
                                 "': " + linked.status().message() + "\n");
}

config::ModelConfigPtr ModelLifecycle::ConfigOfUnserved(const ModelId& id) const {
  {
    std::lock_guard lock(mutex_);
    const auto found = ensembles_.find(id);
    if (found != ensembles_.end()) return found->second.config;
  }
  // It is there, and is not served: an empty configuration stands for it.
  const bool exists = Table()->FindVersions(id) != nullptr || FindDirectories(id.name).ok();
  return exists ? config::ModelConfig::Create({}) : nullptr;
}

std::optional<ModelId> ModelLifecycle::ResolveMember(const ModelId& caller,
                                                     const std::string& name) const {
  if (!options_.namespacing) return ModelId{name};
  const std::vector<ModelId> in_use = Table()->InUse(name);
  std::set<ModelId> known(in_use.begin(), in_use.end());
  {
    // Ensembles that could not be loaded are no part of the table.
    std::lock_guard lock(mutex_);
    for (const auto& [id, ensemble] : ensembles_) {
      if (id.name == name) known.insert(id);
    }
  }
  const ModelId own{name, caller.space};
  if (known.contains(own)) return own;
  return known.size() == 1 ? std::optional(*known.begin()) : std::nullopt;
}

ModelLifecycle::MemberIds ModelLifecycle::ResolveMembers(
    const ModelId& caller, const config::ModelConfig& ensemble) const {
  MemberIds ids;
  for (const std::string& name : repository::MembersOf(ensemble)) {
    ids[name] = ResolveMember(caller, name);
  }
  return ids;
}

std::set<ModelId> ModelLifecycle::RunInOrder(const LoadJobs& jobs, LoadReport* report) {
  std::map<ModelId, std::set<ModelId>> members;
  for (const auto& [id, job] : jobs) {
    std::set<ModelId>& awaited = members[id];
    for (const std::string& name : job.members) {
      const ModelId own{name, id.space};
      if (jobs.contains(own)) {
        awaited.insert(own);
        continue;
      }
      // Which one it is shows when they are there: the ensemble waits for all.
      for (auto it = jobs.lower_bound({name}); it != jobs.end() && it->first.name == name; ++it) {
        awaited.insert(it->first);
      }
    }
  }
  std::set<ModelId> anew;
  LoadOrder order(std::move(members));
  std::mutex mutex;  // guards order, report and anew
  std::condition_variable changed;
  const auto work = [&] {
    std::unique_lock lock(mutex);
    while (!order.IsEmpty()) {
      const auto id = order.Take();
      if (!id) {
        changed.wait(lock);
        continue;
      }
      lock.unlock();
      const auto loaded = LoadOne(jobs.at(*id));
      lock.lock();
      if (!loaded.ok()) report->failures[ToText(*id)] = loaded.status();
      if (loaded.ok() && *loaded == Loaded::kAnew) anew.insert(*id);
      order.Done(*id);
      changed.notify_all();
    }
  };
  const size_t count = std::min<size_t>(std::max<uint32_t>(1, options_.load_threads), jobs.size());
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (size_t i = 1; i < count; ++i) {
    auto thread = base::StartThread("model-load", work);
    if (!thread.ok()) {  // fewer side by side, then
      LOG_WARNING << thread.status().message();
      break;
    }
    threads.push_back(std::move(thread).value());
  }
  work();
  for (std::thread& thread : threads) thread.join();
  return anew;
}

void ModelLifecycle::AddAgain(const std::vector<ModelId>& ensembles, LoadJobs* jobs) const {
  std::lock_guard lock(mutex_);
  for (const ModelId& id : ensembles) {
    const auto found = ensembles_.find(id);
    if (found == ensembles_.end()) continue;
    LoadJob job = found->second.job;
    job.is_wanted = false;  // which leaves it what it is
    job.again = true;
    jobs->try_emplace(id, std::move(job));
  }
}

void ModelLifecycle::RunWithCallers(const LoadJobs& jobs, LoadReport* report) {
  std::vector<ModelId> callers;
  for (const ModelId& id : RunInOrder(jobs, report)) {
    std::lock_guard lock(mutex_);
    for (ModelId& caller : CallersOf(id)) {
      if (!jobs.contains(caller)) callers.push_back(std::move(caller));
    }
  }
  LoadJobs again;
  AddAgain(callers, &again);
  LoadReport ignored;  // what fails is in the log, and out of service
  RunInOrder(again, &ignored);
}

void ModelLifecycle::ReloadRedirected() {
  if (!options_.namespacing) return;
  const auto plan = [this](LoadJobs* jobs) {
    std::vector<ModelId> ensembles = Redirected();
    const size_t count = ensembles.size();
    {
      std::lock_guard lock(mutex_);
      for (size_t i = 0; i < count; ++i) {
        for (ModelId& caller : CallersOf(ensembles[i])) ensembles.push_back(std::move(caller));
      }
    }
    AddAgain(ensembles, jobs);
    return Status::Ok();
  };
  LoadJobs jobs;
  LoadReport ignored;  // as above
  if (const auto turn = TakeTurn(plan, {}, &jobs); turn.ok()) RunInOrder(jobs, &ignored);
}

std::vector<ModelId> ModelLifecycle::CallersOf(const ModelId& id) const {
  std::vector<ModelId> callers{id};
  for (size_t i = 0; i < callers.size(); ++i) {
    for (const auto& [ensemble, known] : ensembles_) {
      const auto member = known.members.find(callers[i].name);
      if (member == known.members.end() || member->second != callers[i]) continue;
      if (std::find(callers.begin(), callers.end(), ensemble) == callers.end()) {
        callers.push_back(ensemble);
      }
    }
  }
  callers.erase(callers.begin());
  std::reverse(callers.begin(), callers.end());
  return callers;
}

std::vector<ModelId> ModelLifecycle::Redirected() const {
  std::vector<ModelId> redirected;
  if (!options_.namespacing) return redirected;
  std::map<ModelId, MemberIds> recorded;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, ensemble] : ensembles_) recorded[id] = ensemble.members;
  }
  for (const auto& [id, members] : recorded) {
    const bool same = std::all_of(members.begin(), members.end(), [&](const auto& member) {
      return ResolveMember(id, member.first) == member.second;
    });
    if (!same) redirected.push_back(id);
  }
  return redirected;
}

void ModelLifecycle::PlanWithMembers(LoadJob job, LoadJobs* jobs) const {
  const RepositoryList repositories = Repositories();
  std::vector<LoadJob> pending;
  pending.push_back(std::move(job));
  for (size_t i = 0; i < pending.size(); ++i) {
    LoadJob& caller = pending[i];
    caller.members = ReadMembers(caller.directory, options_.poll, caller.Overrides());
    std::vector<LoadJob> called;
    for (const std::string& member : caller.members) {
      if (!base::IsPlainName(member)) continue;
      std::vector<ModelDirectory> found = FindModelDirectories(repositories, member);
      const auto own = std::find_if(found.begin(), found.end(), [&](const ModelDirectory& d) {
        return options_.namespacing && d.repository == caller.directory.repository;
      });
      if (own != found.end()) found = {ModelDirectory(*own)};
      // One that is not there, or twice, is for the ensemble's own load to report.
      if (found.size() == 1) called.push_back({std::move(found[0])});
    }
    for (LoadJob& member : called) {
      const auto is_member = [&](const LoadJob& other) {
        return IdOf(other.directory) == IdOf(member.directory);
      };
      if (std::none_of(pending.begin(), pending.end(), is_member)) {
        pending.push_back(std::move(member));
      }
    }
  }
  for (LoadJob& planned : pending) {
    const ModelId id = IdOf(planned.directory);
    const auto [place, is_new] = jobs->try_emplace(id, std::move(planned));
    if (!is_new) place->second.is_wanted |= planned.is_wanted;
  }
}

ModelLifecycle::UnloadPlan ModelLifecycle::PlanUnload(std::vector<ModelId> ids,
                                                      bool with_members) const {
  UnloadPlan plan;
  for (size_t i = 0; i < ids.size(); ++i) {
    const ModelId id = ids[i];
    if (!plan.leaving.insert(id).second) continue;
    // Whoever calls the model goes first: its requests are refused before its steps fail.
    for (ModelId& caller : CallersOf(id)) {
      if (!plan.leaving.contains(caller)) plan.order.push_back(std::move(caller));
    }
    plan.order.push_back(id);
    const auto ensemble = ensembles_.find(id);
    if (!with_members || ensemble == ensembles_.end()) continue;
    for (const auto& [name, member] : ensemble->second.members) {
      if (!member || IsCalled(*member, plan.leaving)) continue;
      const auto state = states_.find(*member);
      if (state == states_.end() || !state->second.is_wanted) ids.push_back(*member);
    }
  }
  return plan;
}

bool ModelLifecycle::IsCalled(const ModelId& id, const std::set<ModelId>& leaving) const {
  return std::any_of(ensembles_.begin(), ensembles_.end(), [&](const auto& ensemble) {
    const MemberIds& members = ensemble.second.members;
    const auto found = members.find(id.name);
    return !leaving.contains(ensemble.first) && found != members.end() && found->second == id;
  });
}

}  // namespace nereid::repository
