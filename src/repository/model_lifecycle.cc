// SPDX-License-Identifier: Apache-2.0
#include "repository/model_lifecycle.h"

#include <algorithm>
#include <chrono>

#include "base/files.h"
#include "base/log.h"
#include "base/threads.h"

namespace nereid::repository {

using base::Status;

namespace {

/// Stands for all models where operations take turns; no model is named so.
const ModelId kAllModels{""};
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

void ModelLifecycle::Acquire(const ModelId& id) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !states_[id].busy; });
  states_[id].busy = true;
}

void ModelLifecycle::Release(const ModelId& id) {
  {
    std::lock_guard lock(mutex_);
    states_[id].busy = false;
  }
  changed_.notify_all();
}

base::Result<ModelLifecycle::LoadReport> ModelLifecycle::LoadAll() {
  Acquire(kAllModels);
  auto report = LoadChanged();
  Release(kAllModels);
  return report;
}

bool ModelLifecycle::IsDuplicate(const std::vector<ModelDirectory>& directories,
                                 const ModelId& id) const {
  return std::count_if(directories.begin(), directories.end(),
                       [&](const ModelDirectory& d) { return IdOf(d) == id; }) > 1;
}

base::Result<ModelLifecycle::LoadReport> ModelLifecycle::LoadChanged() {
  if (gate_->IsClosed()) return Status::Unavailable("the server is stopping");
  NEREID_ASSIGN_OR_RETURN(const auto directories, ScanRepositories(Repositories()));
  LoadReport report;
  RepositorySnapshot now;
  std::map<ModelId, ModelDirectory> by_id;
  for (const ModelDirectory& directory : directories) {
    const ModelId id = IdOf(directory);
    if (!IsDuplicate(directories, id)) {
      now.models[id] = {directory.path, ReadFileState(directory.path)};
      by_id[id] = directory;
      continue;
    }
    report.failures[directory.name] = Status::Internal(
        "failed to poll model '" + directory.name + "': not unique across all model repositories");
    LOG_ERROR << report.failures[directory.name].message();
  }
  const SnapshotDifference difference = Compare(snapshot_, now);
  for (const ModelId& id : difference.removed) {
    const Status status = UnloadOne(id, false);
    if (!status.ok()) LOG_ERROR << "failed to unload '" << id << "': " << status.message();
  }
  LoadJobs jobs;
  for (const auto* ids : {&difference.added, &difference.changed}) {
    for (const ModelId& id : *ids) {
      SetWanted(id, true);
      jobs[id] = {by_id[id]};
    }
  }
  RunWithCallers(jobs, &report);
  for (const ModelId& id : difference.changed) {
    // A change that what serves could not follow is seen as one again.
    if (report.failures.contains(ToText(id))) now.models[id] = snapshot_.models[id];
  }
  snapshot_ = std::move(now);
  return report;
}

ModelLifecycle::LoadReport ModelLifecycle::LoadModels(const std::set<std::string>& names) {
  LoadReport report;
  LoadJobs jobs;
  for (const std::string& name : names) {
    const Status status = Plan(name, {}, &jobs);
    if (!status.ok()) report.failures[name] = status;
  }
  RunWithCallers(jobs, &report);
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
    LOG_ERROR << "no model repository has a directory '" << name << "'";
  }
  return PollFailure(name);
}

Status ModelLifecycle::Load(const std::string& name, const LoadOverrides& overrides) {
  LoadJobs jobs;
  NEREID_RETURN_IF_ERROR(Plan(name, overrides, &jobs));
  LoadReport report;
  RunWithCallers(jobs, &report);
  for (const auto& [id, job] : jobs) {
    if (id.name != name) continue;
    const auto failure = report.failures.find(ToText(id));
    if (failure != report.failures.end()) return failure->second;
  }
  return Status::Ok();
}

Status ModelLifecycle::Plan(const std::string& name, const LoadOverrides& overrides,
                            LoadJobs* jobs) {
  // A model that comes with all its files needs no repository.
  NEREID_RETURN_IF_ERROR(CheckName(name));
  std::vector<ModelDirectory> directories{{name, ""}};
  if (overrides.files.empty()) {
    NEREID_ASSIGN_OR_RETURN(directories, FindDirectories(name));
  }
  for (ModelDirectory& directory : directories) {
    SetWanted(IdOf(directory), true);
    PlanWithMembers({std::move(directory), overrides}, jobs);
  }
  return Status::Ok();
}

base::Result<ModelLifecycle::Loaded> ModelLifecycle::LoadOne(const LoadJob& job) {
  const ModelId id = IdOf(job.directory);
  Acquire(id);
  const LoadGate::Pass pass = gate_->Enter(ToText(id));
  base::Result<Loaded> loaded =
      pass ? LoadLocked(job)
           : Status::Unavailable("the server is stopping: '" + ToText(id) + "' is not loaded");
  {
    std::lock_guard lock(mutex_);
    states_[id].failure = loaded.status();
  }
  Release(id);
  return loaded;
}

base::Result<ModelLifecycle::Loaded> ModelLifecycle::LoadLocked(const LoadJob& job) {
  const ModelId id = IdOf(job.directory);
  if (!job.again && job.overrides.empty() && HasReadyVersion(Table()->FindVersions(id))) {
    const FileState files = ReadFileState(job.directory.path);
    std::lock_guard lock(mutex_);
    if (states_[id].basis.files == files) return Loaded::kUnchanged;
  }
  auto polled = PollModel(job.directory, options_.poll, job.overrides);
  if (!polled.ok()) {
    LOG_ERROR << "Poll failed for model directory '" << id << "': " << polled.status().message();
    return PollFailure(ToText(id));
  }
  if (polled->versions.empty()) {
    return Status::InvalidArgument("load failed for model '" + ToText(id) +
                                   "': at least one version must be available under the version "
                                   "policy of model '" +
                                   job.directory.name + "'\n");
  }
  NEREID_RETURN_IF_ERROR(Link(job, &*polled));
  return LoadVersions(*polled);
}

Status ModelLifecycle::Unload(const std::string& name, bool with_members) {
  NEREID_RETURN_IF_ERROR(CheckName(name));
  if (!options_.namespacing) return UnloadOne({name}, with_members);
  std::set<ModelId> ids;
  {
    std::lock_guard lock(mutex_);
    for (auto it = states_.lower_bound({name}); it != states_.end() && it->first.name == name; ++it)
      ids.insert(it->first);
  }
  for (const ModelId& id : ids) NEREID_RETURN_IF_ERROR(UnloadOne(id, with_members));
  return Status::Ok();
}

Status ModelLifecycle::UnloadOne(const ModelId& id, bool with_members) {
  NEREID_RETURN_IF_ERROR(CheckName(id.name));
  MemberIds members;
  {
    std::lock_guard lock(mutex_);
    states_[id].is_wanted = false;
    if (const auto found = ensembles_.find(id); found != ensembles_.end()) {
      members = found->second.members;
      ensembles_.erase(found);
    }
  }
  // Whoever calls the model goes first: its requests are refused before its steps fail.
  for (const ModelId& caller : CallersOf(id)) TakeOutOfService(caller);
  TakeOutOfService(id);
  if (!with_members) return Status::Ok();
  for (const ModelId& member : UnneededMembers(members)) {
    NEREID_RETURN_IF_ERROR(UnloadOne(member, true));
  }
  return Status::Ok();
}

void ModelLifecycle::TakeOutOfService(const ModelId& id) {
  Acquire(id);
  Retire(id);
  Release(id);
}

void ModelLifecycle::Retire(const ModelId& id) {
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
  });
  for (const auto& model : removed) model->OnRemoved(nullptr);
  SetBasis(id, {}, nullptr);
}

void ModelLifecycle::UnloadAll() {
  const auto table = Table();  // held: unloading replaces the table that is being walked
  for (const auto& [id, versions] : table->models()) {
    const Status status = UnloadOne(id, false);
    if (!status.ok()) LOG_ERROR << "failed to unload '" << id << "': " << status.message();
  }
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
  NEREID_ASSIGN_OR_RETURN(const auto directories, ScanRepositories(Repositories()));
  const auto table = Table();
  std::vector<IndexEntry> entries;
  std::set<ModelId> seen;
  for (const ModelDirectory& directory : directories) {
    const ModelId id = IdOf(directory);
    if (!seen.insert(id).second) continue;
    const VersionRecords* versions = table->FindVersions(id);
    if (IsDuplicate(directories, id)) {
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
