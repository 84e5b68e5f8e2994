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
  const std::string& name = job.directory.name;
  const config::ModelConfigPtr config = polled->basis.config;
  if (!config->is_ensemble()) {
    std::lock_guard lock(mutex_);
    ensembles_.erase(name);
    return Status::Ok();
  }
  {
    std::lock_guard lock(mutex_);
    ensembles_[name] = {job, config, repository::MembersOf(*config)};
  }
  const auto failure_of = [this](const std::string& member) {
    std::lock_guard lock(mutex_);
    const auto found = states_.find(member);
    return found == states_.end() ? Status::Ok() : found->second.failure;
  };
  const auto config_of = [this](const std::string& member) -> config::ModelConfigPtr {
    {
      std::lock_guard lock(mutex_);
      const auto found = ensembles_.find(member);
      if (found != ensembles_.end()) return found->second.config;
    }
    // It is there, and is not served: an empty configuration stands for it.
    const bool exists = FindDirectory(member).ok() || Table()->FindVersions(member) != nullptr;
    return exists ? config::ModelConfig::Create({}) : nullptr;
  };
  auto linked = LinkEnsemble(*config, *Table(), failure_of, config_of);
  if (linked.ok()) {
    polled->basis.config = std::move(linked).value();
    return Status::Ok();
  }
  LOG_ERROR << "failed to load '" << name << "': " << linked.status().message();
  if (polled->agents != nullptr) polled->agents->LoadFail();
  // What serves was made for members that are not there any more.
  Retire(name);
  return Status::InvalidArgument("load failed for model '" + name +
                                 "': " + linked.status().message() + "\n");
}

std::set<std::string> ModelLifecycle::RunInOrder(const std::vector<LoadJob>& jobs,
                                                 LoadReport* report) {
  std::map<std::string, std::set<std::string>> members;
  std::map<std::string, const LoadJob*> by_name;
  for (const LoadJob& job : jobs) {
    members[job.directory.name] = ReadMembers(job.directory, options_.poll, job.overrides);
    by_name[job.directory.name] = &job;
  }
  std::set<std::string> anew;
  LoadOrder order(std::move(members));
  std::mutex mutex;  // guards order, report and anew
  std::condition_variable changed;
  const auto work = [&] {
    std::unique_lock lock(mutex);
    while (!order.IsEmpty()) {
      const auto name = order.Take();
      if (!name) {
        changed.wait(lock);
        continue;
      }
      lock.unlock();
      const auto loaded = LoadOne(*by_name.at(*name));
      lock.lock();
      if (!loaded.ok()) report->failures[*name] = loaded.status();
      if (loaded.ok() && *loaded == Loaded::kAnew) anew.insert(*name);
      order.Done(*name);
      changed.notify_all();
    }
  };
  const size_t count = std::min<size_t>(std::max<uint32_t>(1, options_.load_threads), jobs.size());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i) threads.push_back(base::StartThread("model-load", work));
  work();
  for (std::thread& thread : threads) thread.join();
  return anew;
}

void ModelLifecycle::LoadCallers(const std::set<std::string>& models,
                                 const std::set<std::string>& except) {
  std::set<std::string> callers;
  for (const std::string& model : models) {
    for (std::string& caller : CallersOf(model)) {
      if (!except.contains(caller)) callers.insert(std::move(caller));
    }
  }
  if (callers.empty()) return;
  std::vector<LoadJob> jobs;
  {
    std::lock_guard lock(mutex_);
    for (const std::string& caller : callers) {
      const auto found = ensembles_.find(caller);
      if (found == ensembles_.end()) continue;
      jobs.push_back(found->second.job);
      jobs.back().again = true;
    }
  }
  LoadReport report;
  RunInOrder(jobs, &report);  // what fails is in the log, and out of service
}

std::vector<std::string> ModelLifecycle::CallersOf(const std::string& name) const {
  std::vector<std::string> callers{name};
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < callers.size(); ++i) {
    for (const auto& [ensemble, known] : ensembles_) {
      if (!known.members.contains(callers[i])) continue;
      if (std::find(callers.begin(), callers.end(), ensemble) == callers.end()) {
        callers.push_back(ensemble);
      }
    }
  }
  callers.erase(callers.begin());
  std::reverse(callers.begin(), callers.end());
  return callers;
}

std::vector<ModelLifecycle::LoadJob> ModelLifecycle::WithMembers(LoadJob job) const {
  const RepositoryList repositories = Repositories();
  std::vector<LoadJob> jobs;
  std::set<std::string> seen{job.directory.name};
  jobs.push_back(std::move(job));
  for (size_t i = 0; i < jobs.size(); ++i) {
    for (const std::string& member :
         ReadMembers(jobs[i].directory, options_.poll, jobs[i].overrides)) {
      if (!seen.insert(member).second) continue;
      if (!base::IsPlainName(member)) continue;
      std::vector<ModelDirectory> found = FindModelDirectories(repositories, member);
      // One that is not there, or twice, is for the ensemble's own load to report.
      if (found.size() == 1) jobs.push_back({std::move(found[0])});
    }
  }
  return jobs;
}

std::vector<std::string> ModelLifecycle::UnneededMembers(
    const std::set<std::string>& members) const {
  std::vector<std::string> unneeded;
  std::lock_guard lock(mutex_);
  for (const std::string& member : members) {
    const auto state = states_.find(member);
    if (state != states_.end() && state->second.is_wanted) continue;
    const bool is_called =
        std::any_of(ensembles_.begin(), ensembles_.end(),
                    [&](const auto& ensemble) { return ensemble.second.members.contains(member); });
    if (!is_called) unneeded.push_back(member);
  }
  return unneeded;
}

void ModelLifecycle::SetWanted(const std::string& name, bool wanted) {
  std::lock_guard lock(mutex_);
  states_[name].is_wanted = wanted;
}

}  // namespace nereid::repository
