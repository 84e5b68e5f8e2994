// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "repository/model_lifecycle.h"
#include "repository/poll_filter.h"
#include "server/residency/known_models.h"
#include "server/residency/model_accounts.h"
#include "server/residency/residency_driver.h"

namespace nereid::server {

/// Keeps the models of a server within a budget of memory: a model is loaded when a request needs
/// it, and others are evicted for it. Thread-safe.
///
/// A request for a model in memory passes the gate of its model and nothing else; other requests
/// wait in the ResidencyDriver.
class ModelResidency final : public repository::PollFilter, private ResidencyWork {
 public:
  using RequestPtr = std::unique_ptr<request::InferenceRequest>;
  /// Submits a request to the version in memory, like InferenceServer::Infer.
  using SubmitRequest =
      std::function<base::Status(RequestPtr& request, ServerPhase::Value refused_from)>;

  struct Settings {
    ResidencyPlanner::Settings planner;
    std::set<std::string> pinned = {};  // never evicted, beside the models that say so themselves
  };

  /// `clock` must outlive the object.
  ModelResidency(Settings settings, SubmitRequest submit,
                 const base::Clock& clock = base::SteadyClock());

  /// Starts to work on the models of `lifecycle`, which must exist until Stop. `poll` says how
  /// their files are read. Must be called before the first model is loaded.
  base::Status Start(repository::ModelLifecycle& lifecycle, repository::PollOptions poll);
  /// Refuses the requests that wait, and all that would wait from now on.
  void BeginStop() { driver_.BeginStop(); }
  /// Waits for the loads and evictions in progress and ends the threads.
  void Stop() { driver_.Stop(); }

  /// Submits a request, at once or when its model is in memory. Only the requests of known models
  /// wait. UNAVAILABLE if too many wait, or if the model could not be loaded a moment ago. Errors
  /// after the wait go to the request's sink.
  base::Status Submit(RequestPtr& request, ServerPhase::Value refused_from);

  /// Loads a model for a client and makes it known. The load takes its turn among the requests that
  /// wait. Errors are those of ModelLifecycle::Load, and UNAVAILABLE if the budget has no room.
  base::Status Load(const std::string& name, repository::LoadOverrides overrides,
                    const std::function<bool()>& is_abandoned);
  /// Unloads a model, which no request loads again.
  base::Status Unload(const std::string& name, bool with_members);
  /// Loads the pinned models that are known; returns the failures by name.
  std::map<std::string, base::Status> LoadPinned();

  /// Waits until a known model is in memory, and keeps it there as long as the pass lives. Returns
  /// an empty pass for other models. Must be called on a thread that may block.
  base::Result<ModelGate::Pass> Await(const std::string& name);

  /// See PollFilter: makes the model known. Only a model in memory is loaded again.
  bool LoadsNow(const repository::ModelDirectory& directory) override;
  void OnDeleted(const repository::ModelId& id) override;

  ModelAccounts& accounts() { return accounts_; }
  const KnownModels& known() const { return known_; }
  ResidencyNumbers Numbers() const { return driver_.Numbers(); }

 private:
  // See ResidencyWork.
  base::Status LoadModel(const std::string& model) override;
  void EvictModel(const std::string& model) override;
  std::shared_ptr<ModelGate> FindGate(const std::string& model) const override {
    return known_.FindGate(model);
  }
  ModelUses ReadUses() const override;
  base::Status SubmitNow(RequestPtr& request, ServerPhase::Value refused_from) override {
    return submit_(request, refused_from);
  }

  /// Waits until no other load or unload by name of the model is in progress. Returns false if the
  /// client has gone away meanwhile.
  bool BeginChange(const std::string& name, const std::function<bool()>& is_abandoned);
  void EndChange(const std::string& name);
  base::Status LoadInTurn(const std::string& name, const repository::ModelDirectory& directory,
                          repository::LoadOverrides overrides,
                          const std::function<bool()>& is_abandoned);
  base::Status UnloadInTurn(const std::string& name, bool with_members);

  void Know(const std::string& name, KnownModel model);
  /// Makes the models known that an ensemble calls, unless they are.
  void KnowMembers(const std::set<std::string>& members);
  void Forget(const std::string& name, const base::Status& reason);

  const Settings settings_;
  const SubmitRequest submit_;
  const base::Clock& clock_;
  repository::ModelLifecycle* lifecycle_ = nullptr;  // set by Start, as the next one
  repository::PollOptions poll_;
  KnownModels known_;
  base::Mutex changes_mutex_;
  base::ConditionVariable change_ended_;
  std::set<std::string> changes_ NEREID_GUARDED_BY(changes_mutex_);  // models in a turn
  ResidencyDriver driver_;
  ModelAccounts accounts_;
};

}  // namespace nereid::server
