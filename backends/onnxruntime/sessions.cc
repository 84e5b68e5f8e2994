// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/sessions.h"

#include <utility>

#include "onnxruntime/threads.h"

namespace nereid::onnxruntime {

Error Sessions::Create(const ModelConfig& config, const ModelSource& source,
                       framework::Placement placement, std::shared_ptr<OrtSession>* session) const {
  Owned<OrtSession> made;
  NEREID_BACKEND_TRY(CreateSession(environment_, config, source, placement, &made));
  *session = std::shared_ptr<OrtSession>(made.release(), Release());
  return {};
}

Error Sessions::Open(const ModelConfig& config, const ModelSource& source,
                     framework::Placement placement, std::shared_ptr<OrtSession>* session) {
  NEREID_BACKEND_TRY(SharesSession(config, &shared_));
  NEREID_BACKEND_TRY(Create(config, source, placement, session));
  const base::MutexLock lock(mutex_);
  by_placement_[placement] = *session;
  return {};
}

Error Sessions::ForInstance(const ModelConfig& config, OpenModel open,
                            framework::Placement placement, std::shared_ptr<OrtSession>* session) {
  // The lock is held while a session is created, so that instances which are loaded in parallel do
  // not create the shared session twice. Sessions that are not shared are created outside of it.
  {
    const base::MutexLock lock(mutex_);
    if (const auto found = by_placement_.find(placement); found != by_placement_.end()) {
      *session = shared_ ? found->second : std::move(found->second);
      if (!shared_) {
        by_placement_.erase(found);
      }
      return {};
    }
    if (shared_) {
      ModelSource source;
      NEREID_BACKEND_TRY(open(config, &source));
      NEREID_BACKEND_TRY(Create(config, source, placement, session));
      by_placement_[placement] = *session;
      return {};
    }
  }
  ModelSource source;
  NEREID_BACKEND_TRY(open(config, &source));
  return Create(config, source, placement, session);
}

}  // namespace nereid::onnxruntime
