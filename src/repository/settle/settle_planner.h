// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "repository/model_id.h"

namespace nereid::repository {

/// What a list of checksums in a model's directory says about the files beside it.
enum class ChecksumState : uint8_t {
  kNoList,   // there is no list
  kMatches,  // the files are exactly those of the list
  kDiffers,  // a file is missing, differs or is not on the list
};

/// What a scan saw of a model that differs from the one that was accepted last.
struct ModelSight {
  bool is_missing = false;   // its directory was deleted; the other members do not count
  uint64_t fingerprint = 0;  // of its files; two fingerprints differ if a file was changed between
  bool arrived_whole = false;  // a rename has put it in place since the last scan
  ChecksumState checksums = ChecksumState::kNoList;
  /// How long ago its files were changed, by their times; nothing if the times do not count.
  std::optional<uint64_t> age_ns = std::nullopt;
};

/// Decides when a change of a model is complete. Pure: time is a parameter. Not thread-safe.
///
/// A change is accepted
/// - at once without a settle time, except for a model that differs from its list of checksums;
/// - when the files match a list of checksums, or a rename has put them in place;
/// - when all scans of a settle time have seen the same files, or the times of the files say that
///   they are older than that.
/// A model that differs from its list is never accepted. A deletion is accepted when all scans of a
/// settle time have missed the model.
class SettlePlanner {
 public:
  enum class Verdict : uint8_t {
    kAccept,      // load the model, or unload it if it is missing
    kWait,        // its files may still be written
    kIncomplete,  // its files are not those of its list of checksums
  };

  explicit SettlePlanner(uint64_t settle_ns) : settle_ns_(settle_ns) {}

  /// Decides for all models that differ at a scan. Models that are not in `sights` are as they were
  /// accepted. The scan began and ended at these monotonic times.
  std::map<ModelId, Verdict> Decide(const std::map<ModelId, ModelSight>& sights, uint64_t began_ns,
                                    uint64_t ended_ns);

  /// Returns when the next change may be accepted, if nothing else changes; nothing if no change
  /// waits for time.
  std::optional<uint64_t> NextDueNs() const;

 private:
  struct Observation {
    bool is_missing = false;
    uint64_t fingerprint = 0;
    uint64_t since_ns = 0;  // the end of the first scan that saw it
    bool waits_for_time = false;
  };

  Verdict DecideOne(const ModelSight& sight, const Observation& observation,
                    uint64_t began_ns) const;

  uint64_t settle_ns_;
  std::map<ModelId, Observation> observed_;  // at the last scan
};

}  // namespace nereid::repository
