// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "repository/model_id.h"
#include "repository/requests/load_run.h"

namespace nereid::repository {

/// The loads of one model: the one that runs, the result of the last one, and their numbers.
struct LoadRecord {
  struct Current {
    LoadPosition position;
    uint64_t elapsed_ns = 0;
  };
  struct Last {
    base::Status status;
    /// Why the load has failed; it may say more than `status`, which the client gets.
    std::string reason;
    uint64_t duration_ns = 0;
    uint64_t wall_ms = 0;  // when it ended, since the Unix epoch
  };
  std::optional<Current> current = std::nullopt;
  std::optional<Last> last = std::nullopt;
  uint64_t successes = 0;
  uint64_t failures = 0;
  std::map<std::string, std::string> tags = {};  // metric_tags of the last configuration

  /// Returns whether the last load has failed and none has succeeded since.
  bool HasFailed() const { return last && !last->status.ok(); }
};

/// The records of the loads of all models. A load without effect is not recorded. Thread-safe.
class LoadBoard {
 public:
  using Records = std::map<ModelId, LoadRecord>;

  /// `timeout_ns` is the limit of each load; 0: none. `has_clients` returns whether Cancel may be
  /// called for a load that begins now; null: always.
  LoadBoard(const base::Clock& clock, uint64_t timeout_ns,
            std::function<bool()> has_clients = nullptr)
      : clock_(clock), timeout_ns_(timeout_ns), has_clients_(std::move(has_clients)) {}

  std::shared_ptr<LoadRun> Begin(const ModelId& id);
  /// Records the result of a load.
  void End(const ModelId& id, const base::Status& status);
  /// Removes a load without effect: the model serves what is in the repository, so that an earlier
  /// failure does not count any more.
  void EndUnchanged(const ModelId& id);
  void SetTags(const ModelId& id, const std::map<std::string, std::string>& tags);

  /// Cancels the loads of this name that run, and returns how many there were.
  size_t Cancel(const std::string& name);
  /// Returns the records of this name; empty for a model that was never loaded.
  Records Find(const std::string& name) const;
  Records List() const;
  /// Removes the record of a model whose load does not run.
  void Forget(const ModelId& id);

 private:
  struct Entry {
    std::shared_ptr<LoadRun> run;  // null: no load runs
    LoadRecord record;             // without `current`
  };

  static LoadRecord RecordOf(const Entry& entry);

  const base::Clock& clock_;
  const uint64_t timeout_ns_;
  const std::function<bool()> has_clients_;
  mutable base::Mutex mutex_;
  std::map<ModelId, Entry> entries_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::repository
