// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>

#include "base/mutex.h"
#include "base/result.h"
#include "repository/living_versions.h"
#include "repository/load_gate.h"
#include "repository/load_job.h"
#include "repository/load_plan.h"
#include "repository/loaded_model.h"
#include "repository/model_id.h"
#include "repository/model_poll.h"
#include "repository/requests/call_threads.h"
#include "repository/requests/load_run.h"
#include "repository/version_switch.h"

namespace nereid::repository {

/// Creates the versions of a model, each from its files or from the version that serves, and
/// retries failures. A version whose load can end early is created on another thread. If the load
/// is cancelled or takes too long, that thread is left to end by itself, and until then no version
/// of that model is created. Thread-safe. The parts must outlive every model that it creates.
class VersionMaker {
 public:
  /// The versions of one load, and the outcome if all of them were created.
  struct Made {
    LoadedVersions versions;
    LoadOutcome outcome = LoadOutcome::kAnew;
  };

  /// `retries` is the number of retries of a version that fails; none after the gate was closed.
  VersionMaker(ModelLoader& loader, VersionSwitch& served, LivingVersions& living,
               const LoadGate& gate, uint32_t retries)
      : loader_(loader), served_(served), living_(living), gate_(gate), retries_(retries) {}

  /// Creates all versions that were polled. `before` is the basis of the versions that serve. `run`
  /// ends the load early: the versions that were not created have its error.
  Made Make(const ModelId& id, const PolledModel& polled, const LoadBasis& before,
            uint64_t generation, LoadRun& run);

 private:
  using Version = base::Result<std::shared_ptr<LoadedModel>>;

  Version MakeOnce(const VersionSource& source, VersionAction action, uint64_t generation,
                   const LoadRun& run);
  Version MakeWithRetries(const VersionSource& source, VersionAction action, uint64_t generation,
                          LoadRun& run);
  bool HasGivenUp(const ModelId& id) const;
  void NoteGivenUp(const ModelId& id);
  void NoteEnded(const ModelId& id);

  ModelLoader& loader_;
  VersionSwitch& served_;
  LivingVersions& living_;
  const LoadGate& gate_;
  const uint32_t retries_;
  CallThreads threads_;
  mutable base::Mutex mutex_;
  std::multiset<ModelId> given_up_ NEREID_GUARDED_BY(mutex_);  // calls that have not returned
};

}  // namespace nereid::repository
