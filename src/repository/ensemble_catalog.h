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

/// The models that an ensemble calls, by the names in its configuration. A name that matches no
/// model, or several, has no id.
using MemberIds = std::map<std::string, std::optional<ModelId>>;

/// An ensemble whose load was requested, successfully or not, and that was not unloaded since.
struct KnownEnsemble {
  LoadJob job;  // repeated when its members change
  config::ModelConfigPtr config;
  MemberIds members;  // as resolved when it was loaded
};

/// The ensembles of a server: which models each one calls, and which one calls a model. It has no
/// lock and no thread of its own: LoadStates guards it.
///
/// Invariant: an ensemble is in the catalog from its load, successful or not, until it is unloaded
/// by name or its configuration no longer is one of an ensemble. An ensemble that is retired
/// because a member was unloaded stays in the catalog, so it is loaded again with that member.
class EnsembleCatalog {
 public:
  /// `namespacing`: models of different repositories may have the same name.
  explicit EnsembleCatalog(bool namespacing) : namespacing_(namespacing) {}

  void Remember(const ModelId& id, KnownEnsemble ensemble);
  void Forget(const ModelId& id) { ensembles_.erase(id); }
  /// Returns the ensemble, or null for a model that is not in the catalog. The pointer is valid
  /// until the next change.
  const KnownEnsemble* Find(const ModelId& id) const;

  /// Returns the model that `name` in a step of `caller` refers to. Without namespacing this is the
  /// model of that name, known or not. With namespacing it is the model of the caller's own
  /// namespace if that is in use, else the only one in another namespace. A model is in use if it
  /// is in `table` and was not unloaded, or if it is an ensemble of this catalog.
  std::optional<ModelId> Resolve(const ModelId& caller, const std::string& name,
                                 const ModelTable& table) const;
  /// Resolves each model name in the steps of the configuration.
  MemberIds ResolveMembers(const ModelId& caller, const config::ModelConfig& config,
                           const ModelTable& table) const;

  /// Returns the ensembles that call the model, also through other ensembles; the outermost first.
  std::vector<ModelId> CallersOf(const ModelId& id) const;
  /// Returns whether an ensemble calls the model directly. Ensembles in `leaving` do not count.
  bool IsCalled(const ModelId& id, const std::set<ModelId>& leaving) const;
  /// Returns the ensembles in which a name now refers to another model than when they were loaded.
  std::vector<ModelId> Redirected(const ModelTable& table) const;

  /// Returns all models that loading `jobs` may change or requires unchanged: the models, their
  /// callers, and their members, including those that are not loaded.
  std::set<ModelId> TouchedBy(const LoadJobs& jobs) const;
  /// Returns the jobs that load these ensembles again. Models that are not in the catalog are left
  /// out.
  LoadJobs RepeatLoads(const std::vector<ModelId>& ids) const;

 private:
  const bool namespacing_;
  std::map<ModelId, KnownEnsemble> ensembles_;
};

}  // namespace nereid::repository
