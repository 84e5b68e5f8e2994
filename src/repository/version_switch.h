// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/shared_snapshot.h"
#include "repository/loaded_model.h"
#include "repository/model_id.h"
#include "repository/model_table.h"

namespace nereid::repository {

/// The versions of a load, each with its model or its error.
using LoadedVersions = std::map<int64_t, base::Result<std::shared_ptr<LoadedModel>>>;

/// The table of the models that serve, and the changes by which new versions replace old ones.
/// Each change publishes a new table as a whole: a request finds all old versions of a model or all
/// new ones. Thread-safe.
///
/// Locks: mutex_ serializes the changes; readers take a snapshot and do not wait for it. No model
/// is released or called while mutex_ is held, because the destruction of a model calls
/// NoteDestroyed. For the same reason the owner retires every model before it destroys this object.
class VersionSwitch {
 public:
  /// `namespacing`: models of different repositories may have the same name.
  explicit VersionSwitch(bool namespacing);

  /// Returns the current table.
  std::shared_ptr<const ModelTable> Table() const { return table_.Load(); }
  /// Returns the model of that version if it serves, else null.
  std::shared_ptr<LoadedModel> ServingModel(const ModelId& id, int64_t version) const;
  /// Returns the versions of the model that serve.
  std::set<int64_t> ReadyVersions(const ModelId& id) const;

  /// Adds a model without a version, which makes the server unready. Does nothing for a model that
  /// is in the table.
  void AddModel(const ModelId& id);
  /// Marks the versions as being loaded, unless a version of the model serves.
  void BeginLoading(const ModelId& id, const std::vector<int64_t>& versions, uint64_t generation);
  /// Replaces all versions of the model that serve by `loaded`, all of which have a model, and
  /// calls OnRemoved of the replaced ones.
  void Replace(const ModelId& id, const LoadedVersions& loaded, uint64_t generation);
  /// Records that a load has failed; at least one of the versions has no model. Versions that serve
  /// continue. All others become unavailable, each with its own reason.
  void NoteFailure(const ModelId& id, const LoadedVersions& loaded, uint64_t generation);
  /// Retires all versions of the model and calls their OnRemoved. Returns false and publishes
  /// nothing for a model that is not in the table.
  bool Retire(const ModelId& id);
  /// Records that a model of this load is destroyed.
  void NoteDestroyed(const ModelId& id, int64_t version, uint64_t generation);

 private:
  /// Publishes a table in which `change` has been applied to the records of one model. They are
  /// absent for a model that is not in the table, before and after the change.
  void Change(const ModelId& id, const std::function<void(std::optional<VersionRecords>&)>& change);

  const bool namespacing_;
  base::SharedSnapshot<ModelTable> table_;
  // Held from the copy of a table until the changed one is published. Readers load the table
  // without it: it guards no member.
  base::Mutex mutex_;
};

}  // namespace nereid::repository
