// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "framework/by_threads.h"
#include "framework/placement.h"
#include "onnxruntime/open_session.h"

namespace nereid::onnxruntime {

/// The sessions of a model, each of which belongs to the CPU or to one GPU. Thread-safe after Open.
class Sessions {
 public:
  /// `environment` must outlive the object.
  explicit Sessions(const Environment* environment) : environment_(*environment) {}

  /// Opens the first session of the model, which ForInstance returns for an instance of the same
  /// placement. `config` is used for all sessions.
  Error Open(const ModelConfig& config, const ModelSource& source, framework::Placement placement,
             std::shared_ptr<OrtSession>* session);

  /// Sets `session` to the session of an instance. The instances of one placement share a session,
  /// unless the parameter share_session_between_instances is false. `open` opens the model again if
  /// a new session is needed.
  Error ForInstance(const ModelConfig& config, OpenModel open, framework::Placement placement,
                    std::shared_ptr<OrtSession>* session);

  /// Returns whether the server may change the number of threads of executions on the CPU. Known
  /// after Open.
  bool varies() const { return by_threads_ != nullptr; }
  /// Returns the sessions on the CPU; null unless varies().
  std::shared_ptr<const framework::ByThreads<OrtSession>> by_threads() const { return by_threads_; }
  /// Opens a session on the CPU with `threads` threads, unless there is one. UNSUPPORTED unless
  /// varies(). Thread-safe.
  Error Prepare(const ModelConfig& config, OpenModel open, uint32_t threads);

 private:
  Error Create(const ModelConfig& config, const ModelSource& source, framework::Placement placement,
               std::optional<uint32_t> threads, std::shared_ptr<OrtSession>* session) const;

  const Environment& environment_;
  bool shared_ = true;
  std::shared_ptr<framework::ByThreads<OrtSession>> by_threads_;
  base::Mutex mutex_;
  /// The shared sessions. If sessions are not shared, the one of Open until an instance takes it.
  std::map<framework::Placement, std::shared_ptr<OrtSession>> by_placement_
      NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::onnxruntime
