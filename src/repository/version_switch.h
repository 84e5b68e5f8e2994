// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "base/result.h"
#include "base/shared_snapshot.h"
#include "repository/loaded_model.h"
#include "repository/model_id.h"
#include "repository/model_table.h"

namespace nereid::repository {

/// The versions that a load has made, each with its model or the reason why there is none.
using LoadedVersions = std::map<int64_t, base::Result<std::shared_ptr<LoadedModel>>>;

/// The table of the models that serve, and the changes by which new versions replace old ones.
/// Each change publishes a new table as a whole: a request finds all old versions of a model or all
/// new ones. Thread-safe.
///
/// Locks: mutex_ serializes the changes; readers take a snapshot and do not wait for it. No model
/// is let go and none is called while mutex_ is held, because the end of a model comes back here
/// (NoteDestroyed). For the same reason the owner retires every model before it destroys this
/// object.
class VersionSwitch {
 public:
  /// `namespacing`: models of different repositories may have the same name.
  explicit VersionSwitch(bool namespacing);

  /// Returns the table of this moment.
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
  /// Puts the versions, all of which have a model, in the place of everything of the model that
  /// serves, and tells the models that have left (OnRemoved).
  void Replace(const ModelId& id, const LoadedVersions& loaded, uint64_t generation);
  /// Notes that a load has failed; at least one of the versions has no model. Versions that serve
  /// go on. The others become unavailable all together, each with its own reason.
  void NoteFailure(const ModelId& id, const LoadedVersions& loaded, uint64_t generation);
  /// Takes all versions of the model out of service and tells their models. Returns false, and
  /// publishes nothing, for a model that is not in the table.
  bool Retire(const ModelId& id);
  /// Notes that a model which this load had made is destroyed.
  void NoteDestroyed(const ModelId& id, int64_t version, uint64_t generation);

 private:
  /// Makes a new table by `change`, and publishes it.
  void Change(const std::function<void(ModelTable::Models&)>& change);

  const bool namespacing_;
  base::SharedSnapshot<ModelTable> table_;
  std::mutex mutex_;  // held from the copy of a table until the changed one is published
};

}  // namespace nereid::repository
