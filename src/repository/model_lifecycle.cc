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
constexpr const char* kAllModels = "";
constexpr const char* kDuplicateReason = "model appears in two or more repositories";

bool IsDuplicate(const std::vector<ModelDirectory>& directories, const std::string& name) {
  return std::count_if(directories.begin(), directories.end(),
                       [&](const ModelDirectory& d) { return d.name == name; }) > 1;
}

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

Status PollFailure(const std::string& name) {
  return Status::Internal("failed to load '" + name + "', failed to poll from model repository");
}

}  // namespace

ModelLifecycle::ModelLifecycle(Options options, ModelLoader& loader)
    : options_(std::move(options)),
      loader_(loader),
      table_(std::make_shared<const ModelTable>()),
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
  table_.Store(std::make_shared<const ModelTable>(std::move(models)));
}

void ModelLifecycle::Acquire(const std::string& name) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !states_[name].busy; });
  states_[name].busy = true;
}

void ModelLifecycle::Release(const std::string& name) {
  {
    std::lock_guard lock(mutex_);
    states_[name].busy = false;
  }
  changed_.notify_all();
}

base::Result<ModelLifecycle::LoadReport> ModelLifecycle::LoadAll() {
  Acquire(kAllModels);
  auto report = LoadChanged();
  Release(kAllModels);
  return report;
}

base::Result<ModelLifecycle::LoadReport> ModelLifecycle::LoadChanged() {
  NEREID_ASSIGN_OR_RETURN(const auto directories, ScanRepositories(Repositories()));
  LoadReport report;
  RepositorySnapshot now;
  for (const ModelDirectory& directory : directories) {
    if (!IsDuplicate(directories, directory.name)) {
      now.models[directory.name] = {directory.path, ReadFileState(directory.path)};
      continue;
    }
    report.failures[directory.name] = Status::Internal(
        "failed to poll model '" + directory.name + "': not unique across all model repositories");
    LOG_ERROR << report.failures[directory.name].message();
  }
  const SnapshotDifference difference = Compare(snapshot_, now);
  for (const std::string& name : difference.removed) {
    const Status status = Unload(name);
    if (!status.ok()) LOG_ERROR << "failed to unload '" << name << "': " << status.message();
  }
  std::vector<LoadJob> jobs;
  std::set<std::string> names_to_load;
  for (const auto* names : {&difference.added, &difference.changed}) {
    for (const std::string& name : *names) {
      SetWanted(name, true);
      names_to_load.insert(name);
      jobs.push_back({{name, now.models[name].path}});
    }
  }
  LoadCallers(RunInOrder(jobs, &report), names_to_load);
  for (const std::string& name : difference.changed) {
    // A change that what serves could not follow is seen as one again.
    if (report.failures.contains(name)) now.models[name] = snapshot_.models[name];
  }
  snapshot_ = std::move(now);
  return report;
}

ModelLifecycle::LoadReport ModelLifecycle::LoadModels(const std::set<std::string>& names) {
  LoadReport report;
  std::map<std::string, LoadJob> jobs;
  for (const std::string& name : names) {
    auto directory = FindDirectory(name);
    if (!directory.ok()) {
      report.failures[name] = directory.status();
      continue;
    }
    SetWanted(name, true);
    for (LoadJob& job : WithMembers({std::move(directory).value()})) {
      jobs.try_emplace(job.directory.name, std::move(job));
    }
  }
  std::vector<LoadJob> all;
  std::set<std::string> loaded;
  for (auto& [name, job] : jobs) {
    loaded.insert(name);
    all.push_back(std::move(job));
  }
  LoadCallers(RunInOrder(all, &report), loaded);
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

base::Result<ModelDirectory> ModelLifecycle::FindDirectory(const std::string& name) const {
  NEREID_RETURN_IF_ERROR(CheckName(name));
  const std::vector<ModelDirectory> found = FindModelDirectories(Repositories(), name);
  if (found.size() == 1) return found[0];
  if (found.size() > 1) {
    LOG_ERROR << "failed to poll model '" << name << "': not unique across all model repositories";
  } else {
    LOG_ERROR << "no model repository has a directory '" << name << "'";
  }
  return PollFailure(name);
}

Status ModelLifecycle::Load(const std::string& name, const LoadOverrides& overrides) {
  // A model that comes with all its files needs no repository.
  NEREID_RETURN_IF_ERROR(CheckName(name));
  ModelDirectory directory{name, ""};
  if (overrides.files.empty()) {
    NEREID_ASSIGN_OR_RETURN(directory, FindDirectory(name));
  }
  SetWanted(name, true);
  const std::vector<LoadJob> jobs = WithMembers({std::move(directory), overrides});
  LoadReport report;
  std::set<std::string> loaded;
  for (const LoadJob& job : jobs) loaded.insert(job.directory.name);
  LoadCallers(RunInOrder(jobs, &report), loaded);
  const auto failure = report.failures.find(name);
  return failure == report.failures.end() ? Status::Ok() : failure->second;
}

base::Result<ModelLifecycle::Loaded> ModelLifecycle::LoadOne(const LoadJob& job) {
  Acquire(job.directory.name);
  auto loaded = LoadLocked(job);
  {
    std::lock_guard lock(mutex_);
    states_[job.directory.name].failure = loaded.status();
  }
  Release(job.directory.name);
  return loaded;
}

base::Result<ModelLifecycle::Loaded> ModelLifecycle::LoadLocked(const LoadJob& job) {
  const std::string& name = job.directory.name;
  if (!job.again && job.overrides.empty() && HasReadyVersion(Table()->FindVersions(name))) {
    const FileState files = ReadFileState(job.directory.path);
    std::lock_guard lock(mutex_);
    if (states_[name].basis.files == files) return Loaded::kUnchanged;
  }
  auto polled = PollModel(job.directory, options_.poll, job.overrides);
  if (!polled.ok()) {
    LOG_ERROR << "Poll failed for model directory '" << name << "': " << polled.status().message();
    return PollFailure(name);
  }
  if (polled->versions.empty()) {
    return Status::InvalidArgument("load failed for model '" + name +
                                   "': at least one version must be available under the version "
                                   "policy of model '" +
                                   name + "'\n");
  }
  NEREID_RETURN_IF_ERROR(Link(job, &*polled));
  return LoadVersions(*polled);
}

Status ModelLifecycle::Unload(const std::string& name, bool with_members) {
  NEREID_RETURN_IF_ERROR(CheckName(name));
  std::set<std::string> members;
  {
    std::lock_guard lock(mutex_);
    states_[name].is_wanted = false;
    if (const auto found = ensembles_.find(name); found != ensembles_.end()) {
      members = found->second.members;
      ensembles_.erase(found);
    }
  }
  // Whoever calls the model goes first: its requests are refused before its steps fail.
  for (const std::string& caller : CallersOf(name)) TakeOutOfService(caller);
  TakeOutOfService(name);
  if (!with_members) return Status::Ok();
  for (const std::string& member : UnneededMembers(members)) {
    NEREID_RETURN_IF_ERROR(Unload(member, true));
  }
  return Status::Ok();
}

void ModelLifecycle::TakeOutOfService(const std::string& name) {
  Acquire(name);
  Retire(name);
  Release(name);
}

void ModelLifecycle::Retire(const std::string& name) {
  std::vector<std::shared_ptr<LoadedModel>> removed;
  Change([&](ModelTable::Models& models) {
    const auto found = models.find(name);
    if (found == models.end()) return;
    for (auto& [version, record] : found->second) {
      if (record.model == nullptr) continue;
      removed.push_back(std::move(record.model));
      record.model = nullptr;
      record.state = VersionState::kUnloading;
    }
  });
  for (const auto& model : removed) model->OnRemoved(nullptr);
  SetBasis(name, {}, nullptr);
}

void ModelLifecycle::UnloadAll() {
  const auto table = Table();  // held: unloading replaces the table that is being walked
  for (const auto& [name, versions] : table->models()) {
    const Status status = Unload(name);
    if (!status.ok()) LOG_ERROR << "failed to unload '" << name << "': " << status.message();
  }
}

void ModelLifecycle::OnDestroyed(const std::string& name, int64_t version, uint64_t generation) {
  Change([&](ModelTable::Models& models) {
    const auto found = models.find(name);
    if (found == models.end()) return;
    const auto record = found->second.find(version);
    if (record == found->second.end() || record->second.generation != generation) return;
    if (record->second.state != VersionState::kUnloading) return;
    record->second.state = VersionState::kUnavailable;
    record->second.reason = kUnloadedReason;
    LOG_INFO << "successfully unloaded '" << name << "' version " << version;
  });
  // Notified under the lock: whoever waits may destroy this object as soon as the lock is free.
  std::lock_guard lock(mutex_);
  --living_;
  changed_.notify_all();
}

size_t ModelLifecycle::WaitUntilGone(const std::function<bool()>& give_up) {
  std::unique_lock lock(mutex_);
  while (living_ > 0 && !give_up()) changed_.wait_for(lock, std::chrono::milliseconds(100));
  return living_;
}

base::Result<std::vector<IndexEntry>> ModelLifecycle::Index(bool ready_only) const {
  NEREID_ASSIGN_OR_RETURN(const auto directories, ScanRepositories(Repositories()));
  const auto table = Table();
  std::vector<IndexEntry> entries;
  std::string previous;
  for (const ModelDirectory& directory : directories) {
    if (directory.name == previous) continue;
    previous = directory.name;
    const VersionRecords* versions = table->FindVersions(directory.name);
    if (IsDuplicate(directories, directory.name)) {
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
  for (const auto& [name, versions] : table->models()) {
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
