// SPDX-License-Identifier: Apache-2.0
#include "repository/model_lifecycle.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/background.h"
#include "base/log.h"
#include "base/parallel.h"
#include "repository/load_in_order.h"

namespace nereid::repository {

using base::Status;

namespace {

/// Returns the number of models that are no ensembles.
size_t CountModels(const LoadJobs& jobs) {
  return static_cast<size_t>(std::count_if(
      jobs.begin(), jobs.end(), [](const auto& entry) { return entry.second.members.empty(); }));
}

/// Returns the loads of models that are new or have changed, without their members.
LoadJobs FindChanged(const SnapshotDifference& difference, const SnapshotReading& now,
                     const SettleWatch& watch) {
  LoadJobs jobs;
  for (const auto* ids : {&difference.added, &difference.changed}) {
    for (const ModelId& id : *ids) {
      LoadJob& job = jobs[id];
      job.directory = now.directories.at(id);
      job.is_wanted = true;
      job.is_found = true;
      job.accepted = watch.AcceptedMarks(id);
      if (job.accepted == nullptr) continue;
      job.scanned = std::make_shared<const FileState>(now.snapshot.models.at(id).files);
    }
  }
  return jobs;
}

/// Returns those of the loads that the filter wants (null: all), with the members that the models
/// call.
LoadJobs PlanChanged(const LoadJobs& changed, PollFilter* filter,
                     const ModelRepositories& repositories, size_t threads) {
  LoadJobs jobs;
  std::vector<LoadJob*> planned;
  for (const auto& [id, job] : changed) {
    if (filter != nullptr && !filter->LoadsNow(job.directory)) continue;
    planned.push_back(&jobs.emplace(id, job).first->second);
  }
  base::ForEachOnThreads("model-scan", threads, planned.size(), [&](size_t i) {
    planned[i]->members = repositories.MembersOf(planned[i]->directory);
  });
  return jobs;
}

}  // namespace

ModelLifecycle::ModelLifecycle(Options options, ModelLoader& loader)
    : options_(std::move(options)),
      gate_(options_.gate != nullptr ? options_.gate : std::make_shared<LoadGate>()),
      repositories_(options_.poll, options_.namespacing),
      served_(options_.namespacing),
      states_(options_.namespacing),
      maker_(loader, served_, living_, *gate_, options_.load_retries),
      board_(*options_.settle.clock, options_.load_timeout_ns, options_.has_clients),
      steps_(options_.poll, options_.settle, repositories_, states_, served_, maker_, *gate_,
             board_),
      settle_watch_(options_.settle) {}

ModelLifecycle::~ModelLifecycle() {
  UnloadAll();
  WaitUntilGone([] { return false; });
}

LoadReport ModelLifecycle::LoadAll() {
  base::MutexLock lock(look_mutex_);
  return gate_->IsClosed() ? LoadReport() : LoadChanged();
}

LoadReport ModelLifecycle::LoadChanged() {
  LoadReport report;
  // Nothing serves before the first scan, so it may use several CPUs.
  const size_t threads = snapshot_.models.empty() ? options_.load_threads : 1;
  const ScanMoment moment = settle_watch_.BeginScan();
  const RepositoryScan scan = repositories_.Scan();
  report.unreadable = scan.failures;
  for (const auto& [path, failure] : scan.failures) {
    LOG_ERROR << "failed to poll model repository '" << path << "': " << failure.message();
  }
  SnapshotReading now =
      ReadSnapshot(scan, snapshot_, options_.namespacing, *options_.poll.storage, threads);
  report.failures = std::move(now.failures);
  const SnapshotDifference difference = settle_watch_.Hold(moment, snapshot_, &now, threads);
  for (const ModelId& id : difference.removed) {
    if (options_.filter != nullptr) options_.filter->OnDeleted(id);
    UnloadModels({id}, false);
  }
  const LoadJobs changed = FindChanged(difference, now, settle_watch_);
  const auto plan = [&](LoadJobs* jobs) {
    *jobs = PlanChanged(changed, options_.filter, repositories_, threads);
    if (options_.on_planned != nullptr) options_.on_planned(CountModels(*jobs));
    return Status::Ok();
  };
  LoadJobs jobs;
  (void)LoadInTurn(plan, {}, &jobs,
                   &report);  // cannot fail: the plan returns OK, and no client can abandon it
  ReloadRedirected();
  for (const ModelId& id : difference.changed) {
    // The change could not be loaded and an older version serves: the next scan finds it again.
    if (report.failures.contains(ToText(id))) now.snapshot.models[id] = snapshot_.models[id];
  }
  for (const ModelId& id : difference.added) {
    if (report.torn.contains(id)) now.snapshot.models.erase(id);
  }
  for (const ModelId& id : settle_watch_.IncompleteModels()) {
    report.incomplete[ToText(id)] =
        PollFailure(ToText(id), Status::Internal("its files differ from its list of checksums"));
  }
  report.next_scan_ns = settle_watch_.NextDueNs();
  if (!report.torn.empty()) report.next_scan_ns = options_.settle.clock->NowNs();
  snapshot_ = std::move(now.snapshot);
  return report;
}

LoadReport ModelLifecycle::LoadModels(const std::set<std::string>& names) {
  LoadReport report;
  const auto plan = [&](LoadJobs* jobs) {
    report.failures.clear();
    for (const std::string& name : names) {
      const Status status = repositories_.PlanLoad(name, nullptr, jobs);
      if (!status.ok()) report.failures[name] = status;
    }
    return Status::Ok();
  };
  LoadJobs jobs;
  (void)LoadInTurn(plan, {}, &jobs, &report);  // as above
  ReloadRedirected();
  return report;
}

Status ModelLifecycle::Load(const std::string& name, LoadOverrides overrides,
                            const std::function<bool()>& is_abandoned) {
  auto given =
      overrides.empty() ? nullptr : std::make_shared<const LoadOverrides>(std::move(overrides));
  return requests_.Load(name, std::move(given), is_abandoned,
                        [&](const auto& chosen, const std::function<bool()>& all_abandoned) {
                          return LoadNow(name, chosen, all_abandoned);
                        });
}

Status ModelLifecycle::LoadNow(const std::string& name,
                               const std::shared_ptr<const LoadOverrides>& given,
                               const std::function<bool()>& is_abandoned) {
  const base::ScopedBackground background;
  const auto plan = [&](LoadJobs* jobs) { return repositories_.PlanLoad(name, given, jobs); };
  LoadReport report;
  LoadJobs jobs;
  NEREID_RETURN_IF_ERROR(LoadInTurn(plan, is_abandoned, &jobs, &report));
  ReloadRedirected();
  for (const auto& [id, job] : jobs) {
    if (id.name != name) continue;
    const auto failure = report.failures.find(ToText(id));
    if (failure != report.failures.end()) return failure->second;
  }
  return Status::Ok();
}

Status ModelLifecycle::LoadInTurn(const LoadStates::Planner& plan,
                                  const std::function<bool()>& is_abandoned, LoadJobs* jobs,
                                  LoadReport* report) {
  NEREID_ASSIGN_OR_RETURN(const LoadStates::Turn turn, states_.TakeTurn(plan, is_abandoned, jobs));
  const std::set<ModelId> anew = LoadJobsInOrder(*jobs, report);
  LoadReport ignored;  // a caller that fails is retired and logged
  LoadJobsInOrder(states_.RepeatCallers(anew, *jobs), &ignored);
  return Status::Ok();
}

std::set<ModelId> ModelLifecycle::LoadJobsInOrder(const LoadJobs& jobs, LoadReport* report) {
  const size_t threads =
      std::min<size_t>(std::max<uint32_t>(1, options_.load_threads), jobs.size());
  const auto results = LoadInOrder(LoadOrder(MembersToAwait(jobs)), threads,
                                   [&](const ModelId& id) { return steps_.Load(id, jobs.at(id)); });
  std::set<ModelId> anew;
  for (const auto& [id, loaded] : results) {
    if (!loaded.ok()) report->failures[ToText(id)] = loaded.status();
    if (loaded.ok() && *loaded == LoadOutcome::kTorn) {
      report->failures[ToText(id)] = TornFailure(id);
      report->torn.insert(id);
    }
    if (loaded.ok() && *loaded == LoadOutcome::kAnew) anew.insert(id);
  }
  return anew;
}

void ModelLifecycle::ReloadRedirected() {
  if (!options_.namespacing) return;
  const auto plan = [this](LoadJobs* jobs) {
    *jobs = states_.RepeatRedirected(*Table());
    return Status::Ok();
  };
  LoadJobs jobs;
  LoadReport ignored;  // as for callers
  if (const auto turn = states_.TakeTurn(plan, {}, &jobs); turn.ok()) {
    LoadJobsInOrder(jobs, &ignored);
  }
}

Status ModelLifecycle::Unload(const std::string& name, bool with_members) {
  NEREID_RETURN_IF_ERROR(CheckModelName(name));
  std::vector<ModelId> ids{{name}};
  if (options_.namespacing) ids = states_.ModelsNamed(name);
  UnloadModels(ids, with_members);
  return Status::Ok();
}

void ModelLifecycle::UnloadModels(const std::vector<ModelId>& ids, bool with_members) {
  const base::ScopedBackground background;
  const LoadStates::UnloadTurn unload = states_.TakeUnloadTurn(ids, with_members);
  for (const ModelId& id : unload.plan.order) steps_.Retire(id);
  states_.Forget(unload.plan.leaving);  // before the turn ends
  for (const ModelId& id : unload.plan.leaving) board_.Forget(id);
}

void ModelLifecycle::UnloadAll() {
  const auto table = Table();  // keeps the table alive: each unload replaces it
  for (const auto& [id, versions] : table->models()) UnloadModels({id}, false);
}

std::vector<BoundVersion> ModelLifecycle::BoundVersions() const {
  auto living = living_.List();  // read before the table: see FindBoundVersions
  return FindBoundVersions(*Table(), std::move(living));
}

size_t ModelLifecycle::CancelLoads(const std::string& name) {
  return requests_.CancelWaiting(name) + board_.Cancel(name);
}

base::Result<std::vector<IndexEntry>> ModelLifecycle::Index(bool ready_only) const {
  const RepositoryScan scan = repositories_.Scan();
  NEREID_RETURN_IF_ERROR(scan.status());
  auto entries = ListIndex(scan.directories, *Table(), options_.namespacing, ready_only);
  if (!ready_only) AddFetchProgress(scan.directories, *options_.poll.storage, &entries);
  const LoadBoard::Records records = board_.List();
  AddFailedLoads(records, &entries);
  AddFailedReloads(records, &entries);
  return entries;
}

}  // namespace nereid::repository
