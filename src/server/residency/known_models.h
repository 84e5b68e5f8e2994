// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "config/model_config.h"
#include "repository/load_overrides.h"
#include "server/residency/model_facts.h"
#include "server/residency/model_gate.h"

namespace nereid::server {

/// A model that may be loaded for a request. Immutable, but for its gate.
struct KnownModel {
  ModelFacts facts;
  bool is_wanted = true;  // requested itself, not only as a member of an ensemble
  /// Of the last load that a client has asked for; null: none.
  std::shared_ptr<const repository::LoadOverrides> overrides = {};
  /// The configurations of its versions when it was evicted; empty before.
  std::map<int64_t, config::ModelConfigPtr> served = {};
  std::shared_ptr<ModelGate> gate = {};

  /// Returns whether a load of the model is expected to have this version; -1: any.
  bool MayHave(int64_t version) const;
  /// Returns the configuration of a version (-1: of the greatest one): the one that it served with,
  /// or the written one. Null if there is neither.
  config::ModelConfigPtr ConfigOf(int64_t version) const;
  /// Returns the versions that it served with, or those that its files show.
  std::vector<int64_t> Versions() const;
};

/// The models that may be loaded for requests, by name. Thread-safe.
class KnownModels {
 public:
  using ModelPtr = std::shared_ptr<const KnownModel>;

  /// Returns null for an unknown model.
  ModelPtr Find(std::string_view name) const;
  std::shared_ptr<ModelGate> FindGate(std::string_view name) const;
  /// Adds a model or replaces it. A model that was known keeps its gate.
  void Set(const std::string& name, KnownModel model);
  /// Changes a model that is known.
  void Change(const std::string& name, const std::function<void(KnownModel&)>& change);
  void Remove(const std::string& name);
  void Visit(const std::function<void(const std::string&, const KnownModel&)>& visit) const;
  /// Returns how many requests have found their model in memory, of all models that were known.
  uint64_t Hits() const;

 private:
  mutable base::Mutex mutex_;
  std::map<std::string, ModelPtr, std::less<>> models_ NEREID_GUARDED_BY(mutex_);
  uint64_t removed_hits_ NEREID_GUARDED_BY(mutex_) = 0;
};

}  // namespace nereid::server
