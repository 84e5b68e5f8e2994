// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>

#include "base/mutex.h"

namespace nereid::base {

enum class StageKind : uint8_t { kEventLoop, kTimers, kScheduler, kPool };
inline constexpr StageKind kLastStageKind = StageKind::kPool;

/// Returns "event-loop", "timers", "scheduler" or "pool".
const char* StageKindName(StageKind kind);

/// What a stage of the server says about its progress. Times are monotonic.
struct StageSample {
  /// Since when work waits that the stage should have begun; 0: none waits, or the stage moves.
  uint64_t blocked_since_ns = 0;
  /// Since when the oldest of its work is executed; 0: nothing is.
  uint64_t working_since_ns = 0;
  /// Whether that work runs on the thread of an event loop, which it holds.
  bool works_on_loop = false;
  std::string detail = {};  // the work, for people
};

/// A part of the server that work passes through: an event loop, a scheduler, a pool of threads.
class Stage {
 public:
  virtual ~Stage() = default;
  /// Returns how the stage does at `now_ns`. Nothing if that cannot be found out without a wait,
  /// because another thread holds its lock. Called now and then by one thread at a time; must not
  /// block.
  virtual std::optional<StageSample> Sample(uint64_t now_ns) = 0;
};

/// What a stage is.
struct StageFacts {
  StageKind kind = StageKind::kPool;
  std::string name;  // "http-0", or that of a model
  /// Whether a server whose stage does not move is of no use. Not for a stage whose work may wait
  /// for something outside the process.
  bool must_move = true;
};

/// The stages of the process. Thread-safe.
class StageList {
  struct Listed {
    uint64_t id = 0;
    StageFacts facts;
    Stage* stage = nullptr;
  };

 public:
  /// Lists a stage until its destruction, which waits for a Sample() in progress.
  class Entry {
   public:
    Entry(StageFacts facts, Stage& stage);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    std::list<Listed>::iterator place_;
  };

  /// Calls `visit` for each stage with an id that no other stage of the process has had.
  void ForEach(
      const std::function<void(uint64_t id, const StageFacts& facts, Stage& stage)>& visit);

 private:
  friend class Entry;

  Mutex mutex_;
  std::list<Listed> stages_ NEREID_GUARDED_BY(mutex_);
  uint64_t next_id_ NEREID_GUARDED_BY(mutex_) = 1;
};

/// Returns the list of the process.
StageList& ProcessStages();

}  // namespace nereid::base
