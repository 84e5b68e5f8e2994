// SPDX-License-Identifier: Apache-2.0
// ModelLifecycle: the way from a polled model to versions that serve.
#include <algorithm>

#include "base/files.h"
#include "base/log.h"
#include "repository/model_lifecycle.h"

namespace nereid::repository {

using base::Status;

namespace {

std::set<int64_t> ReadyVersions(const VersionRecords* versions) {
  std::set<int64_t> ready;
  if (versions == nullptr) return ready;
  for (const auto& [version, record] : *versions) {
    if (record.state == VersionState::kReady) ready.insert(version);
  }
  return ready;
}

/// "version 1 is at UNAVAILABLE state: Internal: …;\n" for each that failed; "" if none did.
template <typename Versions>
std::string FailureText(const Versions& loaded) {
  std::string text;
  for (const auto& [version, model] : loaded) {
    if (model.ok()) continue;
    text += "version " + std::to_string(version) +
            " is at UNAVAILABLE state: " + model.status().ToString() + ";\n";
  }
  return text;
}

}  // namespace

std::shared_ptr<LoadedModel> ModelLifecycle::ServingModel(const ModelId& id,
                                                          int64_t version) const {
  const auto found = Table()->Find(id, version);
  return found.ok() ? *found : nullptr;
}

base::Result<std::shared_ptr<LoadedModel>> ModelLifecycle::MakeVersion(const VersionSource& source,
                                                                       VersionAction action,
                                                                       uint64_t generation) {
  {
    std::lock_guard lock(mutex_);
    living_.emplace(source.id, source.version);
  }
  const auto on_destroyed = [this, id = source.id, version = source.version, generation] {
    OnDestroyed(id, version, generation);
  };
  auto made = action == VersionAction::kLoad
                  ? loader_.Load(source, on_destroyed)
                  : loader_.Update(ServingModel(source.id, source.version), source, on_destroyed);
  if (!made.ok()) {
    std::lock_guard lock(mutex_);
    living_.erase(living_.find({source.id, source.version}));
  }
  return made;
}

ModelLifecycle::LoadedVersions ModelLifecycle::MakeVersions(const PolledModel& polled,
                                                            uint64_t generation, Loaded* what) {
  const ModelId id = IdOf(polled.directory);
  LoadBasis before;
  {
    std::lock_guard lock(mutex_);
    before = states_[id].basis;
  }
  const std::set<int64_t> ready = ReadyVersions(Table()->FindVersions(id));
  const auto plan = PlanVersions(before, polled.basis, ready, polled.versions);
  const bool only_updates =
      ready.size() == plan.size() && std::all_of(plan.begin(), plan.end(), [](const auto& entry) {
        return entry.second == VersionAction::kUpdate;
      });
  *what = only_updates ? Loaded::kUpdated : Loaded::kAnew;
  LoadedVersions loaded;
  for (const auto& [version, action] : plan) {
    const VersionSource source{id,
                               version,
                               polled.directory.path,
                               base::JoinPath(polled.directory.path, std::to_string(version)),
                               polled.basis.config,
                               polled.basis.configured,
                               polled.origin};
    LOG_INFO << (action == VersionAction::kLoad ? "loading: " : "updating: ") << id << ":"
             << version;
    auto model = MakeVersion(source, action, generation);
    for (uint32_t retry = 0; !model.ok() && retry < options_.load_retries && !gate_->IsClosed();
         ++retry) {
      LOG_WARNING << "retrying to load '" << id << "' version " << version << ": "
                  << model.status().message();
      model = MakeVersion(source, action, generation);
    }
    if (!model.ok()) {
      LOG_ERROR << "failed to load '" << id << "' version " << version << ": "
                << model.status().ToString();
    }
    loaded.emplace(version, std::move(model));
  }
  return loaded;
}

base::Result<ModelLifecycle::Loaded> ModelLifecycle::LoadVersions(const PolledModel& polled) {
  const ModelId id = IdOf(polled.directory);
  const uint64_t generation = next_generation_++;
  const bool serves = HasReadyVersion(Table()->FindVersions(id));
  if (!serves) {
    Change([&](ModelTable::Models& models) {
      for (const int64_t version : polled.versions) {
        models[id][version] = {VersionState::kLoading, "", nullptr, generation};
      }
    });
  }
  Loaded what = Loaded::kAnew;
  LoadedVersions loaded = MakeVersions(polled, generation, &what);
  const std::string failures = FailureText(loaded);
  if (!failures.empty()) {
    // What serves goes on; the versions that did load go with `loaded`.
    NoteFailure(id, loaded, generation);
    loaded.clear();
    if (polled.agents != nullptr) polled.agents->LoadFail();
    return Status::InvalidArgument("load failed for model '" + ToText(id) + "': " + failures);
  }
  Switch(id, loaded, generation);
  for (const auto& [version, model] : loaded) (*model)->Activate();
  LOG_INFO << "successfully loaded '" << id << "'";
  if (polled.agents != nullptr) polled.agents->LoadComplete();
  SetBasis(id, polled.basis, polled.agents);
  return what;
}

void ModelLifecycle::Switch(const ModelId& id, const LoadedVersions& loaded, uint64_t generation) {
  std::map<int64_t, std::shared_ptr<LoadedModel>> replaced;  // let go outside the lock
  Change([&](ModelTable::Models& models) {
    VersionRecords& records = models[id];
    for (auto& [version, record] : records) {
      if (record.model == nullptr) continue;
      replaced[version] = std::move(record.model);
      record.model = nullptr;
      record.state = VersionState::kUnloading;
      record.reason.clear();
    }
    for (const auto& [version, model] : loaded) {
      records[version] = {VersionState::kReady, "", *model, generation};
    }
  });
  for (const auto& [version, model] : replaced) {
    const auto successor = loaded.find(version);
    model->OnRemoved(successor == loaded.end() ? nullptr : successor->second->get());
  }
}

void ModelLifecycle::NoteFailure(const ModelId& id, const LoadedVersions& loaded,
                                 uint64_t generation) {
  Change([&](ModelTable::Models& models) {
    VersionRecords& records = models[id];
    for (const auto& [version, model] : loaded) {
      const auto found = records.find(version);
      if (found != records.end() && found->second.state == VersionState::kReady) continue;
      // All or nothing: a version does not serve when another of the same load failed.
      records[version] = {VersionState::kUnavailable,
                          model.ok() ? kUnloadedReason : model.status().ToString(), nullptr,
                          generation};
    }
  });
}

void ModelLifecycle::SetBasis(const ModelId& id, LoadBasis basis,
                              std::shared_ptr<agent::AgentChain> agents) {
  {
    std::lock_guard lock(mutex_);
    ModelState& state = states_[id];
    state.basis = std::move(basis);
    state.agents.swap(agents);
  }
  if (agents != nullptr) agents->Unload();
}

}  // namespace nereid::repository
