// SPDX-License-Identifier: Apache-2.0
#include "repository/version_state.h"

#include <algorithm>
#include <utility>

namespace nereid::repository {

std::optional<VersionState> NextState(VersionState state, VersionEvent event) {
  const bool serves = state == VersionState::kReady;
  switch (event) {
    case VersionEvent::kLoadBegins:
      return serves ? std::nullopt : std::optional(VersionState::kLoading);
    case VersionEvent::kServes:
      return serves ? std::nullopt : std::optional(VersionState::kReady);
    case VersionEvent::kFails:
      return serves ? std::nullopt : std::optional(VersionState::kUnavailable);
    case VersionEvent::kIsRetired:
      return serves ? std::optional(VersionState::kUnloading) : std::nullopt;
    case VersionEvent::kIsDestroyed:
      if (state == VersionState::kUnloading) return VersionState::kUnavailable;
      return std::nullopt;
  }
  return std::nullopt;
}

std::string_view VersionStateText(VersionState state) {
  switch (state) {
    case VersionState::kLoading:
      return "LOADING";
    case VersionState::kReady:
      return "READY";
    case VersionState::kUnloading:
      return "UNLOADING";
    case VersionState::kUnavailable:
      return "UNAVAILABLE";
  }
  return "UNKNOWN";
}

bool VersionRecord::Move(VersionEvent event) {
  const auto next = NextState(state_, event);
  if (!next) return false;
  state_ = *next;
  reason_.clear();
  return true;
}

bool VersionRecord::BeginLoading(uint64_t generation) {
  if (!Move(VersionEvent::kLoadBegins)) return false;
  generation_ = generation;
  return true;
}

bool VersionRecord::Serve(std::shared_ptr<LoadedModel> model, uint64_t generation) {
  if (!Move(VersionEvent::kServes)) return false;
  model_ = std::move(model);
  generation_ = generation;
  return true;
}

bool VersionRecord::Fail(std::string reason, uint64_t generation) {
  if (!Move(VersionEvent::kFails)) return false;
  reason_ = std::move(reason);
  generation_ = generation;
  return true;
}

std::shared_ptr<LoadedModel> VersionRecord::Retire() {
  return Move(VersionEvent::kIsRetired) ? std::exchange(model_, nullptr) : nullptr;
}

bool VersionRecord::NoteDestroyed(uint64_t generation) {
  if (generation != generation_ || !Move(VersionEvent::kIsDestroyed)) return false;
  reason_ = kUnloadedReason;
  return true;
}

bool HasReadyVersion(const VersionRecords* versions) {
  return versions != nullptr &&
         std::any_of(versions->begin(), versions->end(), [](const auto& record) {
           return record.second.state() == VersionState::kReady;
         });
}

}  // namespace nereid::repository
