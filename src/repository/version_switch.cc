// SPDX-License-Identifier: Apache-2.0
#include "repository/version_switch.h"

#include <utility>

#include "base/log.h"

namespace nereid::repository {

namespace {

using VersionModels = std::map<int64_t, std::shared_ptr<LoadedModel>>;  // by version

/// Retires every version that serves. The caller releases the models after the lock.
VersionModels RetireAll(VersionRecords* records) {
  VersionModels retired;
  for (auto& [version, record] : *records) {
    if (auto model = record.Retire()) retired.emplace(version, std::move(model));
  }
  return retired;
}

/// Returns the versions that serve.
VersionModels ServingModels(const VersionRecords* records) {
  VersionModels serving;
  if (records == nullptr) return serving;
  for (const auto& [version, record] : *records) {
    if (record.model() != nullptr) serving.emplace(version, record.model());
  }
  return serving;
}

/// Returns the new versions to which requests go that have reached `version` so far: the one of the
/// same number first. Requests without a version have reached the greatest one of `serving`.
std::vector<int64_t> SuccessorsOf(int64_t version, const VersionModels& serving,
                                  const LoadedVersions& loaded) {
  std::vector<int64_t> successors;
  if (loaded.contains(version)) successors.push_back(version);
  const bool was_greatest = serving.rbegin()->first == version;
  if (was_greatest && !loaded.empty() && loaded.rbegin()->first != version) {
    successors.push_back(loaded.rbegin()->first);
  }
  return successors;
}

/// Returns the records of a model, which is put into the table if it is not known.
VersionRecords& RecordsOf(std::optional<VersionRecords>& known) {
  return known ? *known : known.emplace();
}

}  // namespace

VersionSwitch::VersionSwitch(bool namespacing)
    : namespacing_(namespacing), table_(std::make_shared<const ModelTable>(namespacing)) {}

std::shared_ptr<LoadedModel> VersionSwitch::ServingModel(const ModelId& id, int64_t version) const {
  const auto found = Table()->Find(id, version);
  return found.ok() ? *found : nullptr;
}

std::set<int64_t> VersionSwitch::ReadyVersions(const ModelId& id) const {
  std::set<int64_t> ready;
  const auto table = Table();
  const VersionRecords* versions = table->FindVersions(id);
  if (versions == nullptr) return ready;
  for (const auto& [version, record] : *versions) {
    if (record.state() == VersionState::kReady) ready.insert(version);
  }
  return ready;
}

void VersionSwitch::Change(const ModelId& id,
                           const std::function<void(std::optional<VersionRecords>&)>& change) {
  std::shared_ptr<const ModelTable> old;  // outlives the lock: its models may be destroyed with it
  base::MutexLock lock(mutex_);
  old = table_.Load();
  const VersionRecords* const known = old->FindVersions(id);
  std::optional<VersionRecords> records;
  if (known != nullptr) records = *known;
  change(records);
  if (known == nullptr && !records) return;
  const ModelTable::Models& models = old->models();
  table_.Store(std::make_shared<const ModelTable>(
      namespacing_, records ? models.With(id, *std::move(records)) : models.Without(id)));
}

void VersionSwitch::AddModel(const ModelId& id) {
  Change(id, [](std::optional<VersionRecords>& records) { RecordsOf(records); });
}

void VersionSwitch::BeginLoading(const ModelId& id, const std::vector<int64_t>& versions,
                                 uint64_t generation) {
  if (HasReadyVersion(Table()->FindVersions(id))) return;
  Change(id, [&](std::optional<VersionRecords>& known) {
    VersionRecords& records = RecordsOf(known);
    for (const int64_t version : versions) records[version].BeginLoading(generation);
  });
}

void VersionSwitch::Replace(const ModelId& id, const LoadedVersions& loaded, uint64_t generation) {
  // The serving versions cannot change before the table does: the caller has the model's turn.
  const VersionModels serving = ServingModels(Table()->FindVersions(id));
  for (const auto& [version, model] : serving) {
    for (const int64_t number : SuccessorsOf(version, serving, loaded)) {
      (*loaded.at(number))->Succeed(model);
    }
  }
  VersionModels replaced;
  Change(id, [&](std::optional<VersionRecords>& known) {
    VersionRecords& records = RecordsOf(known);
    // Old versions are retired first: a version of the same number is then free for its successor.
    replaced = RetireAll(&records);
    for (const auto& [version, model] : loaded) records[version].Serve(*model, generation);
  });
  for (const auto& [version, model] : replaced) {
    const std::vector<int64_t> successors = SuccessorsOf(version, replaced, loaded);
    model->OnRemoved(successors.empty() ? nullptr : loaded.at(successors[0])->get());
  }
}

void VersionSwitch::NoteFailure(const ModelId& id, const LoadedVersions& loaded,
                                uint64_t generation) {
  Change(id, [&](std::optional<VersionRecords>& known) {
    VersionRecords& records = RecordsOf(known);
    for (const auto& [version, model] : loaded) {
      // All or nothing: a version does not serve when another of the same load failed.
      records[version].Fail(model.ok() ? kUnloadedReason : model.status().ToString(), generation);
    }
  });
}

bool VersionSwitch::Retire(const ModelId& id) {
  if (Table()->FindVersions(id) == nullptr) return false;
  VersionModels removed;
  Change(id, [&](std::optional<VersionRecords>& records) {
    if (!records) return;
    removed = RetireAll(&*records);
    if (records->empty()) records.reset();
  });
  for (const auto& [version, model] : removed) model->OnRemoved(nullptr);
  return true;
}

void VersionSwitch::NoteDestroyed(const ModelId& id, int64_t version, uint64_t generation) {
  Change(id, [&](std::optional<VersionRecords>& records) {
    if (!records) return;
    const auto record = records->find(version);
    if (record == records->end() || !record->second.NoteDestroyed(generation)) return;
    LOG_INFO_OF(.model = id.name) << "successfully unloaded '" << id << "' version " << version;
  });
}

}  // namespace nereid::repository
