// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/status.h"

namespace nereid::server {

/// Where a model is:
///
///     kAbsent ─ load ─▶ kResident ─ victim ─▶ kDraining ─ idle ─▶ kLeaving ─ destroyed ─▶ kAbsent
///                           ▲                     │
///                           └─ busy for too long ─┘
enum class Residence { kAbsent, kResident, kDraining, kLeaving };

/// One model, as the planner of residency sees it.
struct ResidentModel {
  Residence residence = Residence::kAbsent;
  bool is_known = false;               // it may be loaded for a request
  bool is_pinned = false;              // it is never evicted
  bool is_measured = false;            // expected_bytes comes from a load
  bool is_open = false;                // requests use it without asking
  bool is_retired = false;             // in kLeaving: no request finds it
  bool is_serving = false;             // requests that waited are being submitted
  std::set<std::string> members = {};  // the models that an ensemble calls
  uint64_t expected_bytes = 0;         // of the next load
  uint64_t held_bytes = 0;             // of the versions that exist
  size_t objects = 0;                  // how many versions exist
  uint64_t since_ns = 0;  // kResident: since when it is in memory; kDraining: since when it drains
  uint64_t load_ns = 0;   // duration of the last load
  base::Status refusal = {};      // why it cannot be loaded
  uint64_t refused_until_ns = 0;  // until then requests get `refusal`
  uint32_t failures = 0;          // loads that failed in a row
};

using ResidentModels = std::map<std::string, ResidentModel>;

/// How a model is used at one moment.
struct ModelUse {
  uint64_t last_used_ns = 0;
  bool is_busy = false;        // a request is in flight
  bool has_sequences = false;  // a sequence has not ended
};
/// By name; a model that is not listed is not used.
using ModelUses = std::map<std::string, ModelUse>;

/// Returns the model and all models that it calls, directly or through others.
std::set<std::string> WithMembers(const ResidentModels& models, const std::string& name);

/// Returns the bytes of all models.
uint64_t HeldBytes(const ResidentModels& models);
/// Returns the bytes of the models that are being evicted.
uint64_t LeavingBytes(const ResidentModels& models);
/// Returns the bytes of pinned models outside of `needed`.
uint64_t PinnedBytes(const ResidentModels& models, const std::set<std::string>& needed);

/// Returns the use of the model together with the ensembles in memory that call it: the latest use,
/// and busy if one of them is.
ModelUse UseWithCallers(const ResidentModels& models, const std::string& name,
                        const ModelUses& uses);
/// Returns whether an ensemble that exists calls the model directly.
bool HasCallers(const ResidentModels& models, const std::string& name);

/// Which models may be evicted.
struct VictimRules {
  const std::set<std::string>& needed;  // must stay
  uint64_t min_residence_ns = 0;
  uint64_t now_ns = 0;
  bool may_be_busy = false;  // if no idle model may be evicted
};

/// Returns the model to evict next; nothing if all must stay. A model must stay if it is needed,
/// pinned, has open sequences, has not been in memory for its minimum residence (the longer of the
/// setting and of the duration of its load), or if an ensemble that calls it must stay. The victim
/// is the idle model that was used least recently. If all are busy, it is the one that has been in
/// memory longest.
std::optional<std::string> ChooseVictim(const ResidentModels& models, const VictimRules& rules,
                                        const ModelUses& uses);

}  // namespace nereid::server
