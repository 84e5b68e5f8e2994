// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/sessions.h"

#include <utility>

#include "onnxruntime/threads.h"

namespace nereid::onnxruntime {

Error Sessions::Create(const ModelConfig& config, const ModelSource& source,
                       framework::Placement placement, std::optional<uint32_t> threads,
                       std::shared_ptr<OrtSession>* session) const {
  Owned<OrtSession> made;
  NEREID_BACKEND_TRY(CreateSession(environment_, config, source, placement, threads, &made));
  *session = std::shared_ptr<OrtSession>(made.release(), Release());
  return {};
}

Error Sessions::Open(const ModelConfig& config, const ModelSource& source,
                     framework::Placement placement, std::shared_ptr<OrtSession>* session) {
  NEREID_BACKEND_TRY(SharesSession(config, &shared_));
  bool varies = false;
  NEREID_BACKEND_TRY(
      ThreadsVary(environment_.settings, environment_.global_threads, config, &varies));
  varies = varies && !placement.on_gpu();
  NEREID_BACKEND_TRY(
      Create(config, source, placement, varies ? std::optional(1) : std::nullopt, session));
  if (varies) {
    by_threads_ = std::make_shared<framework::ByThreads<OrtSession>>();
    by_threads_->Add(1, *session);
  }
  const base::MutexLock lock(mutex_);
  by_placement_[placement] = *session;
  return {};
}

Error Sessions::Prepare(const ModelConfig& config, OpenModel open, uint32_t threads) {
  if (!varies()) {
    return Error::Unsupported("the number of threads is fixed");
  }
  if (by_threads_->Find(threads) != nullptr) {
    return {};
  }
  ModelSource source;
  NEREID_BACKEND_TRY(open(config, &source));
  std::shared_ptr<OrtSession> session;
  NEREID_BACKEND_TRY(Create(config, source, framework::Placement{}, threads, &session));
  by_threads_->Add(threads, std::move(session));
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
      NEREID_BACKEND_TRY(Create(config, source, placement, std::nullopt, session));
      by_placement_[placement] = *session;
      return {};
    }
  }
  ModelSource source;
  NEREID_BACKEND_TRY(open(config, &source));
  return Create(config, source, placement, std::nullopt, session);
}

}  // namespace nereid::onnxruntime
