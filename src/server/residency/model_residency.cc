// SPDX-License-Identifier: Apache-2.0
#include "server/residency/model_residency.h"

#include <chrono>
#include <utility>
#include <vector>

#include "server/served_model.h"

namespace nereid::server {

using base::Status;
using repository::VersionState;

namespace {

/// How often a load looks whether its client has gone away, while it waits for its turn.
constexpr std::chrono::milliseconds kLook{100};

/// Adds the uses of the versions in the table. The table holds one reference to each of them.
void AddTableUses(const repository::ModelTable& table, ModelUses* uses) {
  for (const auto& [id, versions] : table.models()) {
    for (const auto& [number, record] : versions) {
      if (record.state() != VersionState::kReady) continue;
      ModelUse& use = (*uses)[id.name];
      use.is_busy |= record.model().use_count() > 1;
      use.has_sequences |= ServedModel::Of(record).HasOpenSequences();
    }
  }
}

std::map<int64_t, config::ModelConfigPtr> ServedConfigs(const repository::ModelTable& table,
                                                        const std::string& name) {
  std::map<int64_t, config::ModelConfigPtr> served;
  const auto* const versions = table.FindVersions({name});
  if (versions == nullptr) return served;
  for (const auto& [number, record] : *versions) {
    if (record.state() != VersionState::kReady) continue;
    served[number] = ServedModel::Of(record).identity().config;
  }
  return served;
}

}  // namespace

ModelResidency::ModelResidency(Settings settings, SubmitRequest submit, const base::Clock& clock)
    : settings_(std::move(settings)),
      submit_(std::move(submit)),
      clock_(clock),
      driver_(settings_.planner, *this, clock),
      accounts_([this](const std::string& model, const ModelAccounts::Holding& holding) {
        driver_.Hold(model, holding);
      }) {}

Status ModelResidency::Start(repository::ModelLifecycle& lifecycle, repository::PollOptions poll) {
  lifecycle_ = &lifecycle;
  poll_ = std::move(poll);
  return driver_.Start();
}

Status ModelResidency::Submit(RequestPtr& request, ServerPhase::Value refused_from) {
  auto gate = known_.FindGate(request->model_name);
  if (gate == nullptr) return submit_(request, refused_from);
  const auto pass = ModelGate::Enter(std::move(gate), request->times.start_ns);
  if (pass) return submit_(request, refused_from);
  // No load would give the model a version that it does not have.
  const auto known = known_.Find(request->model_name);
  const bool may_wait = known != nullptr && known->MayHave(request->model_version);
  return may_wait ? driver_.Wait(request, refused_from) : submit_(request, refused_from);
}

base::Result<ModelGate::Pass> ModelResidency::Await(const std::string& name) {
  auto gate = known_.FindGate(name);
  if (gate == nullptr) return ModelGate::Pass();
  if (auto pass = ModelGate::Enter(std::move(gate), clock_.NowNs())) return std::move(*pass);
  return driver_.Await(name);
}

// ---- Which models are known ----

void ModelResidency::Know(const std::string& name, KnownModel model) {
  if (settings_.pinned.contains(name)) model.facts.is_pinned = true;
  driver_.Know(name, {model.facts.file_bytes, model.facts.is_pinned, model.facts.members});
  known_.Set(name, std::move(model));
}

void ModelResidency::KnowMembers(const std::set<std::string>& members) {
  std::vector<std::string> left(members.begin(), members.end());
  while (!left.empty()) {
    const std::string name = std::move(left.back());
    left.pop_back();
    if (known_.Find(name) != nullptr) continue;
    const auto found = lifecycle_->FindDirectories(name);
    if (!found.ok() || found->size() != 1) continue;  // the load of the ensemble reports it
    KnownModel member{.facts = ReadModelFacts(found->front(), poll_), .is_wanted = false};
    left.insert(left.end(), member.facts.members.begin(), member.facts.members.end());
    Know(name, std::move(member));
  }
}

void ModelResidency::Forget(const std::string& name, const Status& reason) {
  known_.Remove(name);
  driver_.Forget(name, reason);
}

bool ModelResidency::LoadsNow(const repository::ModelDirectory& directory) {
  Know(directory.name, {.facts = ReadModelFacts(directory, poll_)});
  return driver_.IsResident(directory.name);
}

void ModelResidency::OnDeleted(const repository::ModelId& id) {
  Forget(id.name,
         Status::Unavailable("model '" + id.name + "' was deleted from the model repositories"));
}

// ---- Loads for clients ----

Status ModelResidency::Load(const std::string& name, repository::LoadOverrides overrides,
                            const std::function<bool()>& is_abandoned) {
  repository::ModelDirectory directory{name, "", ""};
  if (overrides.files.empty()) {
    const auto found = lifecycle_->FindDirectories(name);
    // Returns the error for a model that is in no repository, or in several.
    if (!found.ok() || found->size() != 1) {
      return lifecycle_->Load(name, std::move(overrides), is_abandoned);
    }
    directory = found->front();
  }
  if (!BeginChange(name, is_abandoned)) {
    return Status::Cancelled("the client went away before the load began");
  }
  const Status status = LoadInTurn(name, directory, std::move(overrides), is_abandoned);
  EndChange(name);
  return status;
}

bool ModelResidency::BeginChange(const std::string& name,
                                 const std::function<bool()>& is_abandoned) {
  base::MutexLock lock(changes_mutex_);
  while (!changes_.insert(name).second) {
    change_ended_.WaitFor(lock, kLook);
    if (is_abandoned && is_abandoned()) return false;
  }
  return true;
}

void ModelResidency::EndChange(const std::string& name) {
  {
    const base::MutexLock lock(changes_mutex_);
    changes_.erase(name);
  }
  change_ended_.NotifyAll();
}

Status ModelResidency::LoadInTurn(const std::string& name,
                                  const repository::ModelDirectory& directory,
                                  repository::LoadOverrides overrides,
                                  const std::function<bool()>& is_abandoned) {
  const auto before = known_.Find(name);
  KnownModel model{.facts = ReadModelFacts(directory, poll_, overrides)};
  if (!overrides.empty()) {
    model.overrides = std::make_shared<const repository::LoadOverrides>(std::move(overrides));
  }
  KnowMembers(model.facts.members);
  Know(name, std::move(model));
  const Status status = driver_.LoadFor(name, is_abandoned);
  if (!status.ok() && before != nullptr) {
    Know(name, *before);
  } else if (!status.ok()) {
    Forget(name, status);
  }
  return status;
}

Status ModelResidency::Unload(const std::string& name, bool with_members) {
  (void)BeginChange(name, {});  // nobody abandons it
  const Status status = UnloadInTurn(name, with_members);
  EndChange(name);
  return status;
}

Status ModelResidency::UnloadInTurn(const std::string& name, bool with_members) {
  const auto model = known_.Find(name);
  Forget(name, Status::Unavailable("model '" + name + "' was unloaded"));
  NEREID_RETURN_IF_ERROR(lifecycle_->Unload(name, with_members));
  if (model == nullptr || !with_members) return Status::Ok();
  const auto table = lifecycle_->Table();
  for (const std::string& member : model->facts.members) {
    const auto known = known_.Find(member);
    // The lifecycle has unloaded the members that were loaded only for this ensemble.
    const bool was_for_ensemble = known != nullptr && !known->is_wanted;
    if (was_for_ensemble && !HasReadyVersion(table->FindVersions({member}))) {
      Forget(member, Status::Unavailable("model '" + member + "' was unloaded"));
    }
  }
  return Status::Ok();
}

std::map<std::string, Status> ModelResidency::LoadPinned() {
  std::vector<std::string> pinned;
  known_.Visit([&](const std::string& name, const KnownModel& model) {
    if (model.facts.is_pinned) pinned.push_back(name);
  });
  std::map<std::string, Status> failures;
  for (const std::string& name : pinned) {
    if (const Status status = driver_.LoadFor(name, {}); !status.ok()) failures[name] = status;
  }
  return failures;
}

// ---- The planner's orders ----

Status ModelResidency::LoadModel(const std::string& model) {
  const auto known = known_.Find(model);
  if (known == nullptr) return Status::Unavailable("model '" + model + "' was unloaded");
  // A load of an ensemble loads its members without the overrides of their own loads.
  for (const std::string& name : known->facts.members) {
    const auto member = known_.Find(name);
    const bool has_overrides = member != nullptr && member->overrides != nullptr;
    if (has_overrides && !HasReadyVersion(lifecycle_->Table()->FindVersions({name}))) {
      NEREID_RETURN_IF_ERROR(LoadModel(name));
    }
  }
  return lifecycle_->Load(
      model, known->overrides == nullptr ? repository::LoadOverrides() : *known->overrides);
}

void ModelResidency::EvictModel(const std::string& model) {
  const auto served = ServedConfigs(*lifecycle_->Table(), model);
  known_.Change(model, [&](KnownModel& changed) { changed.served = served; });
  (void)lifecycle_->Unload(model);  // the name is valid
}

ModelUses ModelResidency::ReadUses() const {
  ModelUses uses;
  known_.Visit([&](const std::string& name, const KnownModel& model) {
    const ModelGate::Use use = model.gate->ReadUse();
    if (use.Exists()) uses[name] = {use.last_ns, use.is_entered, false};
  });
  // After the gates: a request that has left its gate since is in the table's counts.
  AddTableUses(*lifecycle_->Table(), &uses);
  return uses;
}

}  // namespace nereid::server
