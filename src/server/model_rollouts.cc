// SPDX-License-Identifier: Apache-2.0
#include "server/model_rollouts.h"

#include <utility>

#include "base/log.h"
#include "server/served_model.h"

namespace nereid::server {

using base::Status;
using repository::VersionState;

namespace {

/// Returns whether the rollout has ended and only leads open sequences to their versions.
bool IsEnding(const rollout::Rollout& rollout) { return rollout.plan() == rollout::RolloutPlan{}; }

Status NoRollout(const std::string& model) {
  return Status::NotFound("model '" + model + "' has no rollout");
}

}  // namespace

ModelRollouts::ModelRollouts(Table table, const base::Clock& clock)
    : table_(std::move(table)), clock_(clock) {}

Status ModelRollouts::Set(const std::string& model, rollout::RolloutPlan plan) {
  NEREID_RETURN_IF_ERROR(rollout::CompletePlan(&plan));
  if (plan == rollout::RolloutPlan{}) {
    return rollout::WrongField("rollout", "empty", "labels, split, shadow or rollback");
  }
  const auto table = table_();
  NEREID_ASSIGN_OR_RETURN(const repository::ModelId id, table->Resolve(model));
  if (table->FindVersions(id) == nullptr) {
    return Status::NotFound("Request for unknown model: '" + model + "' is not found");
  }
  const base::MutexLock lock(mutex_);
  Rollouts changed = *rollouts_.Load();
  RolloutPtr& mine = changed[model];
  mine = std::make_shared<rollout::Rollout>(
      model, std::move(plan), mine == nullptr ? 0 : mine->Rollbacks(), clock_,
      [this](std::function<void()> task) { return comparisons_.Run(std::move(task)); });
  Publish(std::move(changed));
  LOG_INFO_OF(.model = model) << "the rollout of model '" << model << "' has begun";
  return Status::Ok();
}

Status ModelRollouts::Remove(const std::string& model) {
  const base::MutexLock lock(mutex_);
  Rollouts changed = *rollouts_.Load();
  const auto found = changed.find(model);
  if (found == changed.end() || IsEnding(*found->second)) return NoRollout(model);
  // A rollout without a plan leads requests as Triton does, and open sequences to their versions.
  found->second = std::make_shared<rollout::Rollout>(model, rollout::RolloutPlan{},
                                                     found->second->Rollbacks(), clock_, nullptr);
  Publish(std::move(changed));
  LOG_INFO_OF(.model = model) << "the rollout of model '" << model << "' has ended";
  return Status::Ok();
}

void ModelRollouts::Publish(Rollouts rollouts) {
  for (auto it = rollouts.begin(); it != rollouts.end();) {
    const bool is_over = IsEnding(*it->second) && !HasSequencesElsewhere(it->first);
    it = is_over ? rollouts.erase(it) : std::next(it);
  }
  const bool any = !rollouts.empty();
  rollouts_.Store(std::make_shared<const Rollouts>(std::move(rollouts)));
  any_.store(any, std::memory_order_release);
}

bool ModelRollouts::HasSequencesElsewhere(const std::string& model) const {
  const auto table = table_();
  const auto id = table->Resolve(model);
  if (!id.ok()) return false;
  const repository::VersionRecords* const records = table->FindVersions(*id);
  if (records == nullptr) return false;
  bool is_greatest = true;
  for (auto it = records->rbegin(); it != records->rend(); ++it) {
    if (it->second.state() != VersionState::kReady) continue;
    if (!std::exchange(is_greatest, false) && it->second.model()->LiveSequences() > 0) return true;
  }
  return false;
}

ModelRollouts::RolloutPtr ModelRollouts::Find(std::string_view model) const {
  const auto rollouts = rollouts_.Load();
  const auto found = rollouts->find(model);
  return found == rollouts->end() ? nullptr : found->second;
}

bool ModelRollouts::Has(std::string_view model) const {
  if (!any()) return false;
  const RolloutPtr rollout = Find(model);
  return rollout != nullptr && !IsEnding(*rollout);
}

base::Result<rollout::RolloutStatus> ModelRollouts::Get(const std::string& model) const {
  const RolloutPtr rollout = Find(model);
  if (rollout == nullptr || IsEnding(*rollout)) return NoRollout(model);
  return StatusOf(*rollout);
}

std::vector<rollout::RolloutStatus> ModelRollouts::List() const {
  std::vector<rollout::RolloutStatus> list;
  for (const auto& [model, rollout] : *rollouts_.Load()) {
    if (!IsEnding(*rollout)) list.push_back(StatusOf(*rollout));
  }
  return list;
}

rollout::RolloutStatus ModelRollouts::StatusOf(const rollout::Rollout& rollout) const {
  rollout::RolloutStatus status = rollout.Status(clock_.NowNs());
  const auto table = table_();
  const auto id = table->Resolve(rollout.model());
  if (!id.ok()) return status;
  for (rollout::VersionStatus& version : status.versions) {
    version.ready = table->Find(*id, version.version).ok();
  }
  return status;
}

base::Result<int64_t> ModelRollouts::FindLabel(const std::string& model, std::string_view label,
                                               api::LabelUse use) const {
  const RolloutPtr rollout = Find(model);
  if (rollout == nullptr || IsEnding(*rollout)) return NoRollout(model);
  const rollout::RolloutPlan& plan = rollout->plan();
  const auto version = rollout::FindLabel(plan, label);
  if (!version) {
    return Status::NotFound("model '" + model + "' has no version label '" + std::string(label) +
                            "'; its labels are: " + rollout::LabelList(plan));
  }
  const bool is_redirected = use == api::LabelUse::kInference && rollout->IsRolledBack(*version) &&
                             plan.rollback->redirects_labels;
  return is_redirected ? -1 : *version;
}

}  // namespace nereid::server
