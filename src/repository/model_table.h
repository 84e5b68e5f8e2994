// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "repository/loaded_model.h"

namespace nereid::repository {

enum class VersionState { kLoading, kReady, kUnloading, kUnavailable };

/// The reason of a version that was taken out of service on purpose.
inline constexpr const char* kUnloadedReason = "unloaded";

/// "LOADING", "READY", "UNLOADING", "UNAVAILABLE".
std::string_view VersionStateText(VersionState state);

/// One version of a model in the table.
struct VersionRecord {
  VersionState state = VersionState::kLoading;
  std::string reason;                  // why it is unavailable
  std::shared_ptr<LoadedModel> model;  // kReady only
  uint64_t generation = 0;             // which load made it; tells a late report from a current one
};

using VersionRecords = std::map<int64_t, VersionRecord>;  // by version number

/// Whether a model with these versions (null: an unknown one) serves requests.
bool HasReadyVersion(const VersionRecords* versions);

/// The versions of all models at one moment. Immutable: changes make a new table, which replaces
/// the old one as a whole, so readers need no lock.
class ModelTable {
 public:
  using Models = std::map<std::string, VersionRecords, std::less<>>;

  ModelTable() = default;
  explicit ModelTable(Models models) : models_(std::move(models)) {}

  /// The READY model of that version; -1 asks for the greatest READY version. NOT_FOUND for an
  /// unknown model or version, UNAVAILABLE for a version that exists and is not READY.
  base::Result<std::shared_ptr<LoadedModel>> Find(std::string_view name, int64_t version) const;

  const VersionRecords* FindVersions(std::string_view name) const;
  const Models& models() const { return models_; }

 private:
  Models models_;
};

}  // namespace nereid::repository
