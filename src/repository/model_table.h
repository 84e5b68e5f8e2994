// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/persistent_map.h"
#include "base/result.h"
#include "repository/loaded_model.h"
#include "repository/model_id.h"
#include "repository/version_state.h"

namespace nereid::repository {

/// Orders model ids; a map with it can be searched by name without creating an id.
struct ByModelId {
  using is_transparent = void;
  bool operator()(const ModelId& a, const ModelId& b) const { return a < b; }
  bool operator()(const ModelId& a, std::string_view name) const { return a.name < name; }
  bool operator()(std::string_view name, const ModelId& b) const { return name < b.name; }
};

/// A version for which a server with strict readiness is not ready.
struct UnreadyVersion {
  const ModelId& id;
  int64_t version = 0;
  const VersionRecord* record = nullptr;  // null: the model has no version
  base::Status status = {};               // of the backend, if the version serves
};

/// The versions of all models at one moment. Immutable: a change creates a new table, which
/// replaces the old one as a whole, so readers need no lock.
class ModelTable {
 public:
  using Models = base::PersistentMap<ModelId, VersionRecords, ByModelId>;

  /// `namespacing`: models of different repositories may have the same name.
  explicit ModelTable(bool namespacing = false, Models models = {})
      : namespacing_(namespacing), models_(std::move(models)) {}

  /// Returns the model that a name in a request refers to. Without namespacing, this is the model
  /// of that name, known or not. With namespacing, it is the only model of that name that was not
  /// unloaded: NOT_FOUND if there is none, INVALID_ARGUMENT if there are several.
  base::Result<ModelId> Resolve(std::string_view name) const;

  /// Returns the READY model of that version; -1 selects the greatest READY version. NOT_FOUND for
  /// an unknown model or version, UNAVAILABLE for a version that exists and is not READY.
  base::Result<std::shared_ptr<LoadedModel>> Find(const ModelId& id, int64_t version) const;
  /// Resolves the name and returns the model of that version.
  base::Result<std::shared_ptr<LoadedModel>> Find(std::string_view name, int64_t version) const;

  /// Returns the models of that name that were not unloaded.
  std::vector<ModelId> InUse(std::string_view name) const;

  /// Returns the versions of a model; null for an unknown model.
  const VersionRecords* FindVersions(const ModelId& id) const;

  /// Calls `visit` for each version that does not serve, or whose backend reports that it is not
  /// ready, until it returns false. Unloaded versions do not count; a model without a version does.
  void VisitUnready(const std::function<bool(const UnreadyVersion&)>& visit) const;

  /// Returns whether every version that was loaded serves and its backend reports that it is ready.
  /// Unloaded versions do not count; a model without a version is not ready.
  bool AllReady() const;

  const Models& models() const { return models_; }

 private:
  bool namespacing_;
  Models models_;
};

}  // namespace nereid::repository
