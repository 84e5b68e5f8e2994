// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/timer_queue.h"
#include "ensemble/members.h"
#include "model/model.h"
#include "model/model_version.h"
#include "repository/loaded_model.h"
#include "repository/model_table.h"
#include "server/model_reaper.h"
#include "server/predecessors.h"
#include "server/residency/model_accounts.h"

namespace nereid::server {

/// A model in the repository's table. When its instances change, another object for the same model
/// replaces it; requests bound to the old object keep it and its configuration.
class ServedModel final : public repository::LoadedModel,
                          public std::enable_shared_from_this<ServedModel> {
 public:
  /// What an object keeps as long as the model.
  struct Belongings {
    std::shared_ptr<const MemoryCharge> charge;  // null if memory is not measured
    std::shared_ptr<const void> origin;          // the model's files
  };

  /// The load of the model took `load_ns`. `clock` is the clock of `timers`; both must outlive the
  /// object.
  ServedModel(std::shared_ptr<model::ModelVersion> model, Belongings belongings, uint64_t load_ns,
              base::TimerQueue& timers, const base::Clock& clock)
      : timers_(timers),
        clock_(clock),
        belongings_(std::move(belongings)),
        model_(std::move(model)),
        load_ns_(load_ns),
        identity_(model_->identity()) {}
  /// Refers to the same model as `serving`. `update` is applied when this object is activated.
  ServedModel(const ServedModel& serving, model::InstanceUpdate update)
      : timers_(serving.timers_),
        clock_(serving.clock_),
        belongings_(serving.belongings_),
        model_(serving.model_),
        load_ns_(serving.load_ns_),
        identity_(serving.identity_),
        update_(std::move(update)) {
    identity_.config = update_->config;
  }

  base::Status CheckReady() override { return model_->CheckReady(); }
  size_t LiveSequences() const override { return model_->ListSequences(0).total; }
  /// Returns whether this version, or a replaced one that its requests may reach, has a sequence
  /// that has not ended.
  bool HasOpenSequences() const { return LiveSequences() > 0 || !predecessors_.IsEmpty(); }
  void Succeed(const std::shared_ptr<LoadedModel>& predecessor) override;
  void Activate() override;
  void OnRemoved(const LoadedModel* successor) override;

  const config::ModelConfig& config() const override { return *identity_.config; }
  model::ModelVersion& version() { return *model_; }
  uint64_t load_ns() const { return load_ns_; }
  /// Returns the statistics of the version, with its memory if that was measured.
  telemetry::ModelStatistics Statistics() const;
  const request::ModelIdentity& identity() const { return identity_; }
  /// Returns the replaced version that has the sequence which the request continues; null if it is
  /// a request for this version, as nearly every one is. `version` is the version that the request
  /// names, or -1.
  std::shared_ptr<ServedModel> SequenceOwner(const request::RequestFields& request,
                                             int64_t version) const {
    return predecessors_.IsEmpty() ? nullptr : FindSequenceOwner(request, version);
  }

  /// Returns the replaced versions whose sequences have not ended.
  std::vector<std::shared_ptr<ServedModel>> Replaced() const;

  static std::shared_ptr<ServedModel> From(std::shared_ptr<repository::LoadedModel> loaded) {
    return std::static_pointer_cast<ServedModel>(std::move(loaded));
  }
  /// The model of a version that is ready.
  static ServedModel& Of(const repository::VersionRecord& record) {
    return static_cast<ServedModel&>(*record.model());
  }

 private:
  std::shared_ptr<ServedModel> FindSequenceOwner(const request::RequestFields& request,
                                                 int64_t version) const;
  /// Looks now and then for predecessors whose sequences have ended.
  void WatchPredecessors();

  base::TimerQueue& timers_;
  const base::Clock& clock_;
  // Members are destroyed from last to first: prepared instances, the model, its files.
  const Belongings belongings_;
  const std::shared_ptr<model::ModelVersion> model_;
  const uint64_t load_ns_;
  request::ModelIdentity identity_;
  std::optional<model::InstanceUpdate> update_;  // empty after Activate
  Predecessors predecessors_;
};

/// Creates ServedModels, which the reaper destroys.
class ServedModelLoader final : public repository::ModelLoader {
 public:
  /// `members` finds the models that ensembles call. `accounts` measures the memory of loads; null:
  /// it is not measured. They and the reaper must outlive every loaded model.
  ServedModelLoader(model::ModelEnvironment environment, const ensemble::MemberDirectory& members,
                    ModelReaper& reaper, ModelAccounts* accounts)
      : environment_(std::move(environment)),
        members_(members),
        reaper_(reaper),
        accounts_(accounts) {}

  base::Result<std::shared_ptr<repository::LoadedModel>> Load(
      const repository::VersionSource& source, std::function<void()> on_destroyed) override;
  base::Result<std::shared_ptr<repository::LoadedModel>> Update(
      const std::shared_ptr<repository::LoadedModel>& serving,
      const repository::VersionSource& source, std::function<void()> on_destroyed) override;

 private:
  base::Result<std::shared_ptr<model::ModelVersion>> Make(const model::ModelSource& source) const;
  /// Makes the model and measures its memory meanwhile.
  base::Result<std::shared_ptr<model::ModelVersion>> Measure(
      const model::ModelSource& source, ServedModel::Belongings* belongings) const;
  std::shared_ptr<repository::LoadedModel> Own(ServedModel* served,
                                               std::function<void()> on_destroyed);

  const model::ModelEnvironment environment_;
  const ensemble::MemberDirectory& members_;
  ModelReaper& reaper_;
  ModelAccounts* const accounts_;
};

}  // namespace nereid::server
