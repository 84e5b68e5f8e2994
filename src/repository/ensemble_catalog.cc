// SPDX-License-Identifier: Apache-2.0
#include "repository/ensemble_catalog.h"

#include <algorithm>
#include <utility>

#include "repository/ensemble_links.h"

namespace nereid::repository {

namespace {

bool Calls(const KnownEnsemble& ensemble, const ModelId& id) {
  const auto member = ensemble.members.find(id.name);
  return member != ensemble.members.end() && member->second == id;
}

}  // namespace

void EnsembleCatalog::Remember(const ModelId& id, KnownEnsemble ensemble) {
  ensembles_[id] = std::move(ensemble);
}

const KnownEnsemble* EnsembleCatalog::Find(const ModelId& id) const {
  const auto found = ensembles_.find(id);
  return found == ensembles_.end() ? nullptr : &found->second;
}

std::optional<ModelId> EnsembleCatalog::Resolve(const ModelId& caller, const std::string& name,
                                                const ModelTable& table) const {
  if (!namespacing_) return ModelId{name};
  const std::vector<ModelId> in_use = table.InUse(name);
  std::set<ModelId> known(in_use.begin(), in_use.end());
  // Ensembles that could not be loaded are not in the table.
  for (auto it = ensembles_.lower_bound({name}); it != ensembles_.end() && it->first.name == name;
       ++it) {
    known.insert(it->first);
  }
  const ModelId own{name, caller.space};
  if (known.contains(own)) return own;
  return known.size() == 1 ? std::optional(*known.begin()) : std::nullopt;
}

MemberIds EnsembleCatalog::ResolveMembers(const ModelId& caller, const config::ModelConfig& config,
                                          const ModelTable& table) const {
  MemberIds ids;
  for (const std::string& name : MembersOf(config)) ids[name] = Resolve(caller, name, table);
  return ids;
}

std::vector<ModelId> EnsembleCatalog::CallersOf(const ModelId& id) const {
  // Breadth first from the model outward; `callers` is the queue and the set of those seen, so
  // the search also ends if ensembles call each other in a cycle.
  std::vector<ModelId> callers{id};
  for (size_t i = 0; i < callers.size(); ++i) {
    for (const auto& [ensemble, known] : ensembles_) {
      if (!Calls(known, callers[i])) continue;
      if (std::find(callers.begin(), callers.end(), ensemble) == callers.end()) {
        callers.push_back(ensemble);
      }
    }
  }
  callers.erase(callers.begin());
  std::reverse(callers.begin(), callers.end());
  return callers;
}

bool EnsembleCatalog::IsCalled(const ModelId& id, const std::set<ModelId>& leaving) const {
  return std::any_of(ensembles_.begin(), ensembles_.end(), [&](const auto& ensemble) {
    return !leaving.contains(ensemble.first) && Calls(ensemble.second, id);
  });
}

std::vector<ModelId> EnsembleCatalog::Redirected(const ModelTable& table) const {
  std::vector<ModelId> redirected;
  if (!namespacing_) return redirected;
  for (const auto& [id, ensemble] : ensembles_) {
    const bool same = std::all_of(ensemble.members.begin(), ensemble.members.end(),
                                  [&, caller = &id](const auto& member) {
                                    return Resolve(*caller, member.first, table) == member.second;
                                  });
    if (!same) redirected.push_back(id);
  }
  return redirected;
}

std::set<ModelId> EnsembleCatalog::TouchedBy(const LoadJobs& jobs) const {
  std::set<ModelId> touched;
  for (const auto& [id, job] : jobs) {
    touched.insert(id);
    for (ModelId& caller : CallersOf(id)) touched.insert(std::move(caller));
    // Members that this load does not change must not be unloaded while the ensemble is created.
    for (const std::string& member : job.members) touched.insert({member, id.space});
  }
  return touched;
}

LoadJobs EnsembleCatalog::RepeatLoads(const std::vector<ModelId>& ids) const {
  LoadJobs jobs;
  for (const ModelId& id : ids) {
    const KnownEnsemble* known = Find(id);
    if (known == nullptr) continue;
    LoadJob job = known->job;
    job.is_wanted = false;  // keeps whether the ensemble is wanted
    job.again = true;
    job.scanned = nullptr;  // files may have been added since
    jobs.try_emplace(id, std::move(job));
  }
  return jobs;
}

}  // namespace nereid::repository
