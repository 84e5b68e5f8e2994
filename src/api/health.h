// SPDX-License-Identifier: Apache-2.0
// What a server says about its health beyond yes and no. Triton has none of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace nereid::api {

/// The maximum number of reasons, or of model versions that hold a drain, in one report.
inline constexpr size_t kMaxHealthReasons = 100;
/// The maximum length of a reason's text in bytes.
inline constexpr size_t kMaxReasonText = 512;

/// One reason for which the server or a model is not ready. Empty members do not apply.
struct UnreadyReason {
  /// "failed" (the repositories cannot be read), "draining", "ending" (a stop finishes the work in
  /// flight), "exiting", "model" (a model or a version of it does not serve), or "backend" (a
  /// version serves, and its backend reports that it is not ready).
  std::string cause;
  std::string model = {};
  std::string version = {};
  std::string state = {};  // of the version, as the repository index names it
  std::string text = {};
};

/// Whether the server or a model is ready, and if not, why.
struct Readiness {
  bool ready = true;
  /// Not OK if the question itself gets an error and not an answer, as Triton gives it while the
  /// server stops.
  base::Status status = {};
  std::vector<UnreadyReason> reasons = {};  // empty if ready; kMaxHealthReasons at most
  size_t omitted = 0;                       // the reasons beyond them
  /// What is wrong although it does not count: "reload" for a model that serves an old version,
  /// because its last load has failed. kMaxHealthReasons at most.
  std::vector<UnreadyReason> notes = {};
};

/// Adds a reason, with its text cut to kMaxReasonText, or counts it if there are too many.
void AddReason(UnreadyReason reason, Readiness* readiness);

/// Adds a note, with its text cut to kMaxReasonText, unless there are too many.
void AddNote(UnreadyReason note, Readiness* readiness);

/// What is wrong with a server that may still live, or what takes long.
struct LivenessFinding {
  /// "failed" (the repositories cannot be read), "exiting" (the server unloads its models), "stuck"
  /// (a stage does not begin the work that waits for it), or "executing" (an execution of a model
  /// takes long, which may be right).
  std::string cause;
  std::string stage = {};  // "event-loop", "timers", "scheduler" or "pool"; empty: none
  std::string name = {};   // of the stage: a thread, or a model
  uint64_t seconds = 0;    // for how long
  std::string text = {};
};

/// Whether a server is live, with what was found.
struct Liveness {
  bool live = true;
  std::vector<LivenessFinding> findings = {};  // kMaxHealthReasons at most; also if it is live
  size_t omitted = 0;
};

/// A model version with requests in flight or with sequences that have not ended.
struct BusyVersion {
  std::string model;
  std::string version;
  size_t in_flight = 0;  // requests, or sequences if there are more of them
};

/// The state of a drain: the server is not ready and begins no new sequences; everything else is
/// served.
struct DrainReport {
  bool draining = false;
  /// When the drain ends by itself; nothing if it lasts until it is ended.
  std::optional<uint64_t> left_ns = std::nullopt;
  size_t in_flight = 0;  // of all models
  std::vector<BusyVersion> busy = {};
  size_t omitted = 0;
};

/// A change of the drain.
struct DrainChange {
  bool drain = true;
  /// How long the drain lasts; nothing: until it is ended.
  std::optional<uint32_t> seconds = std::nullopt;
};

/// Explains the health of a server and drains it. Thread-safe. No function may be called on an
/// event loop: the first two ask plug-ins and block until those answer, the others look at all
/// models.
class Health {
 public:
  virtual ~Health() = default;

  /// Returns the answer of InferenceService::IsServerReady() with its reasons.
  virtual Readiness ExplainServer() = 0;
  /// Returns the answer of InferenceService::IsModelReady() with its reasons.
  virtual Readiness ExplainModel(const std::string& name, int64_t version) = 0;

  /// Returns the answer of InferenceService::IsServerLive() with what the watchdog has found.
  virtual Liveness ExplainLiveness() = 0;

  virtual DrainReport Drain() = 0;
  /// Begins a drain, sets the time of the present one anew, or ends it. Returns UNAVAILABLE while
  /// the server stops.
  virtual base::Result<DrainReport> ChangeDrain(const DrainChange& change) = 0;
};

}  // namespace nereid::api
