// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "base/mutex.h"
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

 private:
  Error Create(const ModelConfig& config, const ModelSource& source, framework::Placement placement,
               std::shared_ptr<OrtSession>* session) const;

  const Environment& environment_;
  bool shared_ = true;
  base::Mutex mutex_;
  /// The shared sessions. If sessions are not shared, the one of Open until an instance takes it.
  std::map<framework::Placement, std::shared_ptr<OrtSession>> by_placement_
      NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::onnxruntime
