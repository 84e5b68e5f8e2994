// SPDX-License-Identifier: Apache-2.0
#include "server/residency/resident_models.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace nereid::server {
namespace {

bool Exists(const ResidentModel& model) { return model.residence != Residence::kAbsent; }

/// Returns the model and the ensembles that exist and call it, directly or through others.
std::set<std::string> WithCallers(const ResidentModels& models, const std::string& name) {
  std::set<std::string> found = {name};
  std::vector<std::string> left = {name};
  while (!left.empty()) {
    const std::string called = std::move(left.back());
    left.pop_back();
    for (const auto& [caller, model] : models) {
      if (!Exists(model) || !model.members.contains(called)) continue;
      if (found.insert(caller).second) left.push_back(caller);
    }
  }
  return found;
}

bool MustStay(const std::string& name, const ResidentModel& model, const VictimRules& rules) {
  if (model.is_pinned || rules.needed.contains(name)) return true;
  if (model.residence != Residence::kResident) return false;  // it is leaving already
  const uint64_t residence_ns = std::max(rules.min_residence_ns, model.load_ns);
  return model.is_serving || rules.now_ns - std::min(rules.now_ns, model.since_ns) < residence_ns;
}

}  // namespace

std::set<std::string> WithMembers(const ResidentModels& models, const std::string& name) {
  std::set<std::string> found = {name};
  std::vector<std::string> left = {name};
  while (!left.empty()) {
    const auto caller = models.find(left.back());
    left.pop_back();
    if (caller == models.end()) continue;
    for (const std::string& member : caller->second.members) {
      if (found.insert(member).second) left.push_back(member);
    }
  }
  return found;
}

uint64_t HeldBytes(const ResidentModels& models) {
  uint64_t bytes = 0;
  for (const auto& [name, model] : models) bytes += model.held_bytes;
  return bytes;
}

uint64_t LeavingBytes(const ResidentModels& models) {
  uint64_t bytes = 0;
  for (const auto& [name, model] : models) {
    if (Exists(model) && model.residence != Residence::kResident) bytes += model.held_bytes;
  }
  return bytes;
}

uint64_t PinnedBytes(const ResidentModels& models, const std::set<std::string>& needed) {
  uint64_t bytes = 0;
  for (const auto& [name, model] : models) {
    if (model.is_pinned && !needed.contains(name)) bytes += model.held_bytes;
  }
  return bytes;
}

ModelUse UseWithCallers(const ResidentModels& models, const std::string& name,
                        const ModelUses& uses) {
  ModelUse all;
  for (const std::string& user : WithCallers(models, name)) {
    const auto found = uses.find(user);
    if (found == uses.end()) continue;
    all.last_used_ns = std::max(all.last_used_ns, found->second.last_used_ns);
    all.is_busy |= found->second.is_busy;
    all.has_sequences |= found->second.has_sequences;
  }
  return all;
}

bool HasCallers(const ResidentModels& models, const std::string& name) {
  return std::any_of(models.begin(), models.end(), [&](const auto& entry) {
    return Exists(entry.second) && entry.second.members.contains(name);
  });
}

std::optional<std::string> ChooseVictim(const ResidentModels& models, const VictimRules& rules,
                                        const ModelUses& uses) {
  std::optional<std::string> victim;
  // Idle ones first, by the latest use; then busy ones, by the begin of their residence.
  std::tuple<bool, uint64_t> least;
  for (const auto& [name, model] : models) {
    if (model.residence != Residence::kResident || model.held_bytes == 0) continue;
    const std::set<std::string> leaving = WithCallers(models, name);
    const bool must_stay = std::any_of(leaving.begin(), leaving.end(), [&](const auto& each) {
      return MustStay(each, models.at(each), rules);
    });
    const ModelUse use = UseWithCallers(models, name, uses);
    if (must_stay || use.has_sequences || (use.is_busy && !rules.may_be_busy)) continue;
    const uint64_t time_ns =
        use.is_busy ? model.since_ns : std::max(use.last_used_ns, model.since_ns);
    const std::tuple rank(use.is_busy, time_ns);
    if (victim && rank >= least) continue;
    victim = name;
    least = rank;
  }
  return victim;
}

}  // namespace nereid::server
