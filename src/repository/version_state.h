// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "repository/loaded_model.h"

namespace nereid::repository {

/// The states of one model version, as the repository index names them.
enum class VersionState { kLoading, kReady, kUnloading, kUnavailable };

/// The events that change the state of a version.
enum class VersionEvent {
  kLoadBegins,   // a load has selected the version, and no version of its model serves
  kServes,       // the loaded version is put into the table
  kFails,        // the load has failed, for this version or for another one of the same load
  kIsRetired,    // the version is removed from service; its requests in flight continue
  kIsDestroyed,  // the last request that held the retired version has ended
};

/// Returns the state after the event, or nothing if the event does not apply to a version in this
/// state, which then does not change. The legal transitions, by event (columns) and state (rows):
///
///                | LoadBegins | Serves | Fails       | IsRetired | IsDestroyed
///     Loading    | Loading    | Ready  | Unavailable | -         | -
///     Ready      | -          | -      | -           | Unloading | -
///     Unloading  | Loading    | Ready  | Unavailable | -         | Unavailable
///     Unavailable| Loading    | Ready  | Unavailable | -         | -
///
/// A version that serves survives a failed load, and is retired before a successor serves.
std::optional<VersionState> NextState(VersionState state, VersionEvent event);

/// Returns "LOADING", "READY", "UNLOADING" or "UNAVAILABLE".
std::string_view VersionStateText(VersionState state);

/// The reason of a version that was unloaded on request.
inline constexpr const char* kUnloadedReason = "unloaded";

/// One version of a model in the table. It has a model exactly while it is kReady. Each function
/// that changes it applies one event, and returns whether the event changed the state.
class VersionRecord {
 public:
  VersionState state() const { return state_; }
  /// Returns why the version is unavailable; empty in the other states.
  const std::string& reason() const { return reason_; }
  const std::shared_ptr<LoadedModel>& model() const { return model_; }

  bool BeginLoading(uint64_t generation);
  bool Serve(std::shared_ptr<LoadedModel> model, uint64_t generation);
  bool Fail(std::string reason, uint64_t generation);
  /// Returns the model that served, or null if none did.
  std::shared_ptr<LoadedModel> Retire();
  /// Records that the model of this generation is destroyed. Changes nothing if a later load has
  /// replaced the version.
  bool NoteDestroyed(uint64_t generation);

 private:
  /// Applies the event; returns false and changes nothing if it does not apply to the state.
  bool Move(VersionEvent event);

  VersionState state_ = VersionState::kLoading;
  std::string reason_;
  std::shared_ptr<LoadedModel> model_;
  uint64_t generation_ = 0;  // the number of the load that made it
};

using VersionRecords = std::map<int64_t, VersionRecord>;  // by version number

/// Returns whether a model with these versions (null: an unknown one) serves requests.
bool HasReadyVersion(const VersionRecords* versions);

}  // namespace nereid::repository
