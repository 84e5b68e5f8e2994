// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/rollout_control.h"
#include "base/blocking_workers.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/shared_snapshot.h"
#include "repository/model_table.h"
#include "rollout/rollout.h"

namespace nereid::server {

/// The rollouts of the server's models, by the name of the model. They survive reloads of their
/// models, and end with the process. Thread-safe: the map is replaced as a whole, so a request
/// reads it without waiting for a change.
class ModelRollouts final : public api::RolloutControl {
 public:
  using Table = std::function<std::shared_ptr<const repository::ModelTable>()>;
  using RolloutPtr = std::shared_ptr<rollout::Rollout>;

  /// `table` returns the current table of models. It and `clock` must outlive the object, which
  /// must outlive the models.
  ModelRollouts(Table table, const base::Clock& clock);

  base::Status Set(const std::string& model, rollout::RolloutPlan plan) override;
  base::Result<rollout::RolloutStatus> Get(const std::string& model) const override;
  base::Status Remove(const std::string& model) override;
  base::Result<int64_t> FindLabel(const std::string& model, std::string_view label,
                                  api::LabelUse use) const override;
  bool Has(std::string_view model) const override;

  /// Returns whether any model has a rollout.
  bool any() const { return any_.load(std::memory_order_acquire); }
  /// Returns the rollout that decides for requests to this model; null if there is none.
  RolloutPtr Find(std::string_view model) const;
  /// Returns the status of every rollout.
  std::vector<rollout::RolloutStatus> List() const;

 private:
  using Rollouts = std::map<std::string, RolloutPtr, std::less<>>;

  rollout::RolloutStatus StatusOf(const rollout::Rollout& rollout) const;
  /// Returns whether a version that requests without a version would not find has live sequences.
  bool HasSequencesElsewhere(const std::string& model) const;
  /// Publishes the map without the rollouts that only waited for sequences that have ended.
  void Publish(Rollouts rollouts) NEREID_REQUIRES(mutex_);

  const Table table_;
  const base::Clock& clock_;
  base::BlockingWorkers comparisons_{"rollout-compare", 1, rollout::kMaxShadowsInFlight};
  base::Mutex mutex_;  // held from the copy of the map until the changed one is published
  base::SharedSnapshot<Rollouts> rollouts_{std::make_shared<const Rollouts>()};
  std::atomic<bool> any_{false};
};

}  // namespace nereid::server
