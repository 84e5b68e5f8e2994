// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/model_config.h"
#include "repository/load_job.h"
#include "repository/model_id.h"
#include "repository/model_table.h"

namespace nereid::repository {

/// The models that an ensemble calls, by the names in its configuration; nothing for a name that
/// means no model, or several.
using MemberIds = std::map<std::string, std::optional<ModelId>>;

/// An ensemble that was loaded, or that could not be, and was not unloaded since.
struct KnownEnsemble {
  LoadJob job;  // repeated when its members change
  config::ModelConfigPtr config;
  MemberIds members;  // as the names were understood when it was loaded
};

/// The ensembles of a server: which models each one calls, and which one calls a model. It has no
/// lock and no thread of its own: LoadStates guards it.
///
/// Invariant: an ensemble stands here from its load, successful or not, until it is unloaded by
/// name or its configuration stops being one of an ensemble. An ensemble that goes because a member
/// was unloaded stays here, and so comes back with that member.
class EnsembleCatalog {
 public:
  /// `namespacing`: models of different repositories may have the same name.
  explicit EnsembleCatalog(bool namespacing) : namespacing_(namespacing) {}

  void Remember(const ModelId& id, KnownEnsemble ensemble);
  void Forget(const ModelId& id) { ensembles_.erase(id); }
  /// Returns null for a model that is no ensemble. The pointer is valid until the next change.
  const KnownEnsemble* Find(const ModelId& id) const;

  /// Returns the model that a step of `caller` means by `name`. Without namespacing this is the
  /// model of that name, known or not. With it, the model of the caller's own namespace if that is
  /// in use, else the only one elsewhere. In use are models in `table` that were not unloaded, and
  /// ensembles of this catalog.
  std::optional<ModelId> Resolve(const ModelId& caller, const std::string& name,
                                 const ModelTable& table) const;
  /// Resolves each name that the configuration's steps have.
  MemberIds ResolveMembers(const ModelId& caller, const config::ModelConfig& config,
                           const ModelTable& table) const;

  /// Returns the ensembles that call the model, also through other ensembles; the outermost first.
  std::vector<ModelId> CallersOf(const ModelId& id) const;
  /// Returns whether an ensemble calls the model itself. Ensembles of `leaving` do not count.
  bool IsCalled(const ModelId& id, const std::set<ModelId>& leaving) const;
  /// Returns the ensembles one of whose names means another model than when they were loaded.
  std::vector<ModelId> Redirected(const ModelTable& table) const;

  /// Returns all models that loading `jobs` may change or needs unchanged: the models, their
  /// callers, and their members, also those that are not loaded now.
  std::set<ModelId> TouchedBy(const LoadJobs& jobs) const;
  /// Returns what loads these ensembles again. Models that are not in the catalog are left out.
  LoadJobs RepeatLoads(const std::vector<ModelId>& ids) const;

 private:
  const bool namespacing_;
  std::map<ModelId, KnownEnsemble> ensembles_;
};

}  // namespace nereid::repository
