// SPDX-License-Identifier: Apache-2.0
#include "repository/model_lifecycle.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "base/threads.h"

namespace nereid::repository {

using base::Status;

namespace {

constexpr const char* kDuplicateReason = "model appears in two or more repositories";

Status CheckName(const std::string& name) {
  if (name.find_first_not_of(" \t") == std::string::npos) {
    return Status::InvalidArgument(
        "Model name cannot be empty. Please enter a valid name to deploy.");
  }
  if (!base::IsPlainName(name)) {
    return Status::InvalidArgument("invalid model name '" + name +
                                   "', model name must not contain path traversal characters");
  }
  return Status::Ok();
}

Status PollFailure(const std::string& model) {
  return Status::Internal("failed to load '" + model + "', failed to poll from model repository");
}

}  // namespace

ModelLifecycle::ModelLifecycle(Options options, ModelLoader& loader)
    : options_(std::move(options)),
      gate_(options_.gate != nullptr ? options_.gate : std::make_shared<LoadGate>()),
      loader_(loader),
      table_(std::make_shared<const ModelTable>(options_.namespacing)),
      repositories_(PlainRepositories(options_.poll.repositories)) {}

ModelLifecycle::~ModelLifecycle() {
  UnloadAll();
  WaitUntilGone([] { return false; });
}

void ModelLifecycle::Change(const std::function<void(ModelTable::Models&)>& change) {
  std::shared_ptr<const ModelTable> old;  // outlives the lock: its models may be destroyed with it
  std::lock_guard lock(table_mutex_);
  old = table_.Load();
  ModelTable::Models models = old->models();
  change(models);
  table_.Store(std::make_shared<const ModelTable>(options_.namespacing, std::move(models)));
}

const LoadOverrides& ModelLifecycle::LoadJob::Overrides() const {
  static const LoadOverrides kNone;
  return overrides == nullptr ? kNone : *overrides;
}

ModelLifecycle::Turn::Turn(ModelLifecycle& owner, std::set<ModelId> models)
    : owner_(&owner), models_(std::move(models)) {
  owner_->busy_.insert(models_.begin(), models_.end());
}

ModelLifecycle::Turn::Turn(Turn&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)), models_(std::move(other.models_)) {}

ModelLifecycle::Turn::~Turn() {
  if (owner_ == nullptr) return;
  {
    std::lock_guard lock(owner_->mutex_);
    for (const ModelId& id : models_) owner_->busy_.erase(id);
  }
  owner_->changed_.notify_all();
}

bool ModelLifecycle::AreFree(const std::set<ModelId>& models) const {
  return std::none_of(models.begin(), models.end(),
                      [this](const ModelId& id) { return busy_.contains(id); });
}

std::set<ModelId> ModelLifecycle::TouchedBy(const LoadJobs& jobs) const {
  std::set<ModelId> touched;
  for (const auto& [id, job] : jobs) {
    touched.insert(id);
    for (const ModelId& caller : CallersOf(id)) touched.insert(caller);
    // Also members that are not loaded now: they must not go while the ensemble is made.
    for (const std::string& member : job.members) touched.insert({member, id.space});
  }
  return touched;
}

base::Result<ModelLifecycle::Turn> ModelLifecycle::TakeTurn(
    const Planner& plan, const std::function<bool()>& is_abandoned, LoadJobs* jobs) {
  while (true) {
    jobs->clear();
    NEREID_RETURN_IF_ERROR(plan(jobs));
    std::unique_lock lock(mutex_);
    std::set<ModelId> models = TouchedBy(*jobs);
    if (AreFree(models)) return Turn(*this, std::move(models));
    while (!AreFree(models)) {
      changed_.wait_for(lock, std::chrono::milliseconds(100));
      if (is_abandoned && is_abandoned()) {
        return Status::Cancelled("the client went away before the load began");
      }
    }
  }
}

ModelLifecycle::LoadReport ModelLifecycle::LoadAll() {
  std::lock_guard lock(look_mutex_);
  return gate_->IsClosed() ? LoadReport() : LoadChanged();
}

std::map<ModelId, size_t> ModelLifecycle::CountById(
    const std::vector<ModelDirectory>& directories) const {
  std::map<ModelId, size_t> counts;
  for (const ModelDirectory& directory : directories) ++counts[IdOf(directory)];
  return counts;
}

RepositorySnapshot ModelLifecycle::ReadSnapshot(const RepositoryScan& scan,
                                                std::map<ModelId, ModelDirectory>* directories,
                                                LoadReport* report) const {
  RepositorySnapshot now;
  for (const auto& [id, model] : snapshot_.models) {
    if (scan.failures.contains(model.repository)) now.models[id] = model;
  }
  const auto counts = CountById(scan.directories);
  for (const ModelDirectory& directory : scan.directories) {
    const ModelId id = IdOf(directory);
    if (counts.at(id) > 1) {
      report->failures[directory.name] =
          Status::Internal("failed to poll model '" + directory.name +
                           "': not unique across all model repositories");
      LOG_ERROR << report->failures[directory.name].message();
      continue;
    }
    // One that is known from a repository that cannot be read now stays what it is.
    if (now.models.contains(id)) continue;
    auto files = ReadFileState(directory.path);
    if (files.ok()) {
      now.models[id] = {directory.path, std::move(files).value(), directory.repository};
      (*directories)[id] = directory;
      continue;
    }
    LOG_ERROR << "Poll failed for model directory '" << id << "': " << files.status().message();
    report->failures[ToText(id)] = PollFailure(ToText(id));
    const auto before = snapshot_.models.find(id);
    if (before != snapshot_.models.end()) now.models[id] = before->second;
  }
  return now;
}

ModelLifecycle::LoadReport ModelLifecycle::LoadChanged() {
  LoadReport report;
  const RepositoryScan scan = ScanRepositories(Repositories());
  report.unreadable = scan.failures;
  for (const auto& [path, failure] : scan.failures) {
    LOG_ERROR << "failed to poll model repository '" << path << "': " << failure.message();
  }
  std::map<ModelId, ModelDirectory> by_id;
  RepositorySnapshot now = ReadSnapshot(scan, &by_id, &report);
  const SnapshotDifference difference = Compare(snapshot_, now);
  for (const ModelId& id : difference.removed) UnloadModels({id}, false);
  const auto plan = [&](LoadJobs* jobs) {
    for (const auto* ids : {&difference.added, &difference.changed}) {
      for (const ModelId& id : *ids) {
        const ModelDirectory& directory = by_id.at(id);
        (*jobs)[id] = {directory, nullptr, ReadMembers(directory, options_.poll), true};
      }
    }
    return Status::Ok();
  };
  LoadJobs jobs;
  if (const auto turn = TakeTurn(plan, {}, &jobs); turn.ok()) RunWithCallers(jobs, &report);
  ReloadRedirected();
  for (const ModelId& id : difference.changed) {
    // A change that what serves could not follow is seen as one again.
    if (report.failures.contains(ToText(id))) now.models[id] = snapshot_.models[id];
  }
  snapshot_ = std::move(now);
  return report;
}

ModelLifecycle::LoadReport ModelLifecycle::LoadModels(const std::set<std::string>& names) {
  LoadReport report;
  const auto plan = [&](LoadJobs* jobs) {
    report.failures.clear();
    for (const std::string& name : names) {
      const Status status = Plan(name, nullptr, jobs);
      if (!status.ok()) report.failures[name] = status;
    }
    return Status::Ok();
  };
  LoadJobs jobs;
  if (const auto turn = TakeTurn(plan, {}, &jobs); turn.ok()) RunWithCallers(jobs, &report);
  ReloadRedirected();
  return report;
}

RepositoryList ModelLifecycle::Repositories() const {
  std::lock_guard lock(mutex_);
  return repositories_;
}

Status ModelLifecycle::RegisterRepository(const std::string& path, const NameMapping& mapping) {
  if (!base::IsDirectory(path)) {
    return Status::InvalidArgument("failed to register '" + path + "', repository not found");
  }
  for (const auto& [model, directory] : mapping) {
    NEREID_RETURN_IF_ERROR(CheckName(model));
    if (!base::IsPlainName(directory)) {
      return Status::InvalidArgument("failed to register '" + path + "', model '" + model +
                                     "' is mapped to '" + directory +
                                     "', which is no name of a sub-directory");
    }
  }
  std::lock_guard lock(mutex_);
  if (!repositories_.emplace(path, mapping).second) {
    return Status::AlreadyExists("model repository '" + path + "' has already been registered");
  }
  return Status::Ok();
}

Status ModelLifecycle::UnregisterRepository(const std::string& path) {
  std::lock_guard lock(mutex_);
  if (repositories_.erase(path) == 0) {
    return Status::InvalidArgument("failed to unregister '" + path + "', repository not found");
  }
  return Status::Ok();
}

base::Result<std::vector<ModelDirectory>> ModelLifecycle::FindDirectories(
    const std::string& name) const {
  NEREID_RETURN_IF_ERROR(CheckName(name));
  std::vector<ModelDirectory> found = FindModelDirectories(Repositories(), name);
  if (found.size() == 1 || (found.size() > 1 && options_.namespacing)) return found;
  if (found.size() > 1) {
    LOG_ERROR << "failed to poll model '" << name << "': not unique across all model repositories";
  } else {
    LOG_ERROR << "failed to poll model '" << name << "': model not found in any model repository.";
  }
  return PollFailure(name);
}

Status ModelLifecycle::Load(const std::string& name, LoadOverrides overrides,
                            const std::function<bool()>& is_abandoned) {
  const auto given =
      overrides.empty() ? nullptr : std::make_shared<const LoadOverrides>(std::move(overrides));
  LoadReport report;
  LoadJobs jobs;
  {
    NEREID_ASSIGN_OR_RETURN(const Turn turn,
                            TakeTurn([&](LoadJobs* planned) { return Plan(name, given, planned); },
                                     is_abandoned, &jobs));
    RunWithCallers(jobs, &report);
  }
  ReloadRedirected();
  for (const auto& [id, job] : jobs) {
    if (id.name != name) continue;
    const auto failure = report.failures.find(ToText(id));
    if (failure != report.failures.end()) return failure->second;
  }
  return Status::Ok();
}

Status ModelLifecycle::Plan(const std::string& name,
                            const std::shared_ptr<const LoadOverrides>& overrides,
                            LoadJobs* jobs) const {
  // A model that comes with all its files needs no repository.
  NEREID_RETURN_IF_ERROR(CheckName(name));
  std::vector<ModelDirectory> directories{{name, ""}};
  if (overrides == nullptr || overrides->files.empty()) {
    NEREID_ASSIGN_OR_RETURN(directories, FindDirectories(name));
  }
  for (ModelDirectory& directory : directories) {
    PlanWithMembers({std::move(directory), overrides, {}, true}, jobs);
  }
  return Status::Ok();
}

base::Result<ModelLifecycle::Loaded> ModelLifecycle::LoadOne(const LoadJob& job) {
  const std::string name = ToText(IdOf(job.directory));
  const LoadGate::Pass pass = gate_->Enter(name);
  base::Result<Loaded> loaded =
      pass ? LoadWithinMemory(job)
           : Status::Unavailable("the server is stopping: '" + name + "' is not loaded");
  std::lock_guard lock(mutex_);
  states_[IdOf(job.directory)].failure = loaded.status();
  return loaded;
}

base::Result<ModelLifecycle::Loaded> ModelLifecycle::LoadWithinMemory(const LoadJob& job) {
  try {
    return LoadNow(job);
  } catch (const std::bad_alloc&) {
    const std::string name = ToText(IdOf(job.directory));
    LOG_ERROR << "failed to load '" << name << "': out of memory";
    return Status::Unavailable("load failed for model '" + name + "': out of memory\n");
  }
}

base::Result<ModelLifecycle::Loaded> ModelLifecycle::LoadNow(const LoadJob& job) {
  const ModelId id = IdOf(job.directory);
  if (!job.again && job.overrides == nullptr && HasReadyVersion(Table()->FindVersions(id))) {
    const auto files = ReadFileState(job.directory.path);
    std::lock_guard lock(mutex_);
    // Nothing is done, so a member that an ensemble has brought in does not become wanted either.
    if (files.ok() && states_[id].basis.files == *files) return Loaded::kUnchanged;
  }
  auto polled = PollModel(job.directory, options_.poll, job.Overrides());
  if (!polled.ok()) {
    LOG_ERROR << "Poll failed for model directory '" << id << "': " << polled.status().message();
    return PollFailure(ToText(id));
  }
  if (job.is_wanted) {
    std::lock_guard lock(mutex_);
    states_[id].is_wanted = true;
  }
  if (polled->versions.empty()) {
    // It is known from now on, which makes the server unready.
    Change([&](ModelTable::Models& models) { models.try_emplace(id); });
    const std::string reason =
        "at least one version must be available under the version policy of model '" +
        job.directory.name + "'";
    LOG_ERROR << "failed to load model '" << id << "': " << reason;
    return Status::InvalidArgument("load failed for model '" + ToText(id) + "': " + reason + "\n");
  }
  NEREID_RETURN_IF_ERROR(Link(job, &*polled));
  return LoadVersions(*polled);
}

Status ModelLifecycle::Unload(const std::string& name, bool with_members) {
  NEREID_RETURN_IF_ERROR(CheckName(name));
  std::vector<ModelId> ids;
  if (options_.namespacing) {
    std::lock_guard lock(mutex_);
    for (auto it = states_.lower_bound({name}); it != states_.end() && it->first.name == name; ++it)
      ids.push_back(it->first);
  } else {
    ids.push_back({name});
  }
  UnloadModels(ids, with_members);
  return Status::Ok();
}

void ModelLifecycle::UnloadModels(const std::vector<ModelId>& ids, bool with_members) {
  UnloadPlan plan;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    plan = PlanUnload(ids, with_members);
    return AreFree({plan.order.begin(), plan.order.end()});
  });
  const Turn turn(*this, {plan.order.begin(), plan.order.end()});
  for (const ModelId& id : plan.leaving) {
    ensembles_.erase(id);
    if (const auto state = states_.find(id); state != states_.end()) {
      state->second.is_wanted = false;
    }
  }
  lock.unlock();
  for (const ModelId& id : plan.order) Retire(id);
  const std::lock_guard forget(mutex_);  // goes before the turn does
  for (const ModelId& id : plan.leaving) states_.erase(id);
}

void ModelLifecycle::Retire(const ModelId& id) {
  if (Table()->FindVersions(id) == nullptr) return;
  std::vector<std::shared_ptr<LoadedModel>> removed;
  Change([&](ModelTable::Models& models) {
    const auto found = models.find(id);
    if (found == models.end()) return;
    for (auto& [version, record] : found->second) {
      if (record.model == nullptr) continue;
      removed.push_back(std::move(record.model));
      record.model = nullptr;
      record.state = VersionState::kUnloading;
    }
    if (found->second.empty()) models.erase(found);
  });
  for (const auto& model : removed) model->OnRemoved(nullptr);
  SetBasis(id, {}, nullptr);
}

void ModelLifecycle::UnloadAll() {
  const auto table = Table();  // held: unloading replaces the table that is being walked
  for (const auto& [id, versions] : table->models()) UnloadModels({id}, false);
}

void ModelLifecycle::OnDestroyed(const ModelId& id, int64_t version, uint64_t generation) {
  Change([&](ModelTable::Models& models) {
    const auto found = models.find(id);
    if (found == models.end()) return;
    const auto record = found->second.find(version);
    if (record == found->second.end() || record->second.generation != generation) return;
    if (record->second.state != VersionState::kUnloading) return;
    record->second.state = VersionState::kUnavailable;
    record->second.reason = kUnloadedReason;
    LOG_INFO << "successfully unloaded '" << id << "' version " << version;
  });
  // Notified under the lock: whoever waits may destroy this object as soon as the lock is free.
  std::lock_guard lock(mutex_);
  living_.erase(living_.find({id, version}));
  changed_.notify_all();
}

std::vector<std::string> ModelLifecycle::WaitUntilGone(const std::function<bool()>& give_up) {
  std::unique_lock lock(mutex_);
  while (!living_.empty()) {
    lock.unlock();
    const bool enough = give_up();
    lock.lock();
    if (living_.empty() || enough) break;
    changed_.wait_for(lock, std::chrono::milliseconds(100));
  }
  std::vector<std::string> versions;
  for (const auto& [id, version] : living_) versions.push_back(VersionText(id, version));
  return versions;
}

size_t ModelLifecycle::LivingVersions() const {
  const std::lock_guard lock(mutex_);
  return living_.size();
}

std::vector<ModelLifecycle::BoundVersion> ModelLifecycle::BoundVersions() const {
  std::multiset<std::pair<ModelId, int64_t>> others;  // not in the table, or not any more
  {
    const std::lock_guard lock(mutex_);
    others = living_;
  }
  std::vector<BoundVersion> bound;
  const auto table = Table();
  for (const auto& [id, versions] : table->models()) {
    for (const auto& [version, record] : versions) {
      if (record.model == nullptr) continue;
      const auto found = others.find({id, version});
      if (found != others.end()) others.erase(found);
      // One reference is the table's own. A request has one, and another for its responses.
      const auto references = static_cast<size_t>(std::max(0L, record.model.use_count() - 1));
      const size_t requests = std::max((references + 1) / 2, record.model->LiveSequences());
      if (requests > 0) bound.push_back({id, version, requests, false});
    }
  }
  for (const auto& [id, version] : others) bound.push_back({id, version, 1, true});
  return bound;
}

base::Result<std::vector<IndexEntry>> ModelLifecycle::Index(bool ready_only) const {
  const RepositoryScan scan = ScanRepositories(Repositories());
  NEREID_RETURN_IF_ERROR(scan.status());
  const auto counts = CountById(scan.directories);
  const auto table = Table();
  std::vector<IndexEntry> entries;
  std::set<ModelId> seen;
  for (const ModelDirectory& directory : scan.directories) {
    const ModelId id = IdOf(directory);
    if (!seen.insert(id).second) continue;
    const VersionRecords* versions = table->FindVersions(id);
    if (counts.at(id) > 1) {
      if (!ready_only) entries.push_back({directory.name, "", "UNAVAILABLE", kDuplicateReason});
      continue;
    }
    if (versions == nullptr) {
      if (!ready_only) entries.push_back({directory.name, "", "", ""});
      continue;
    }
    for (const auto& [version, record] : *versions) {
      if (ready_only && record.state != VersionState::kReady) continue;
      entries.push_back({directory.name, std::to_string(version),
                         std::string(VersionStateText(record.state)), record.reason});
    }
  }
  return entries;
}

bool ModelLifecycle::AllReady() const {
  const auto table = Table();
  for (const auto& [id, versions] : table->models()) {
    if (versions.empty()) return false;  // there is nothing of it to be served
    for (const auto& [version, record] : versions) {
      if (record.state == VersionState::kReady) {
        if (!record.model->CheckReady().ok()) return false;
        continue;
      }
      if (record.reason != kUnloadedReason) return false;
    }
  }
  return true;
}

}  // namespace nereid::repository
