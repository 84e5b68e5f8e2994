// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/engine_pool.h"

#include <algorithm>

#include "tensorrt/nv_version.h"

namespace nereid::tensorrt {
namespace {

Error ReadShared(const TensorRtLibrary& library, Gpu* gpu, const EngineSource& source,
                 std::shared_ptr<const Engine>* engine) {
  std::unique_ptr<Engine> read;
  NEREID_BACKEND_TRY(Engine::Read(library, source, &read));
  // The last instance may end on any thread.
  *engine = std::shared_ptr<const Engine>(read.release(), [gpu](const Engine* unused) {
    CurrentGpu current;
    current.EnterToFree(gpu);
    delete unused;
  });
  return {};
}

}  // namespace

EnginePool::EnginePool() : EnginePool(NEREID_NV_VERSION >= 1000) {}

std::shared_ptr<EnginePool::Group> EnginePool::Find(const Gpu& gpu, const EngineSource& source) {
  const base::MutexLock lock(mutex_);
  std::shared_ptr<Group>& group = groups_[{gpu.ordinal(), source.dla_core, source.path}];
  if (group == nullptr) {
    group = std::make_shared<Group>();
  }
  return group;
}

Error EnginePool::Look(const TensorRtLibrary& library, Gpu* gpu, const EngineSource& source,
                       std::shared_ptr<const Engine>* engine) {
  const std::shared_ptr<Group> group = Find(*gpu, source);
  const base::MutexLock lock(group->mutex);
  if (group->engines.empty()) {
    std::shared_ptr<const Engine> read;
    NEREID_BACKEND_TRY(ReadShared(library, gpu, source, &read));
    group->engines.push_back({std::move(read), {}});
  }
  *engine = group->engines.front().engine;
  return {};
}

bool EnginePool::MayShare(Group* group, Gpu* gpu, int profile) {
  if (!group->shares_profiles) {
    group->shares_profiles =
        share_profiles_ && group->engines.front().engine->LetsContextsShare(gpu, profile);
  }
  return *group->shares_profiles;
}

Error EnginePool::Take(const TensorRtLibrary& library, Gpu* gpu, const EngineSource& source,
                       std::span<const std::string> profiles, EngineLease* lease) {
  std::shared_ptr<const Engine> first;
  NEREID_BACKEND_TRY(Look(library, gpu, source, &first));
  lease->gpu = gpu;
  NEREID_BACKEND_TRY(ParseProfiles(profiles, first->profile_count(), &lease->profiles));
  const std::shared_ptr<Group> group = Find(*gpu, source);
  const base::MutexLock lock(group->mutex);
  const auto is_free = [&](const Shared& shared) {
    return std::none_of(lease->profiles.begin(), lease->profiles.end(),
                        [&](int profile) { return shared.claimed.count(profile) != 0; });
  };
  auto shared = std::find_if(group->engines.begin(), group->engines.end(), is_free);
  if (shared == group->engines.end()) {
    if (MayShare(group.get(), gpu, lease->profiles.front())) {
      shared = group->engines.begin();
    } else {
      std::shared_ptr<const Engine> read;
      NEREID_BACKEND_TRY(ReadShared(library, gpu, source, &read));
      shared = group->engines.insert(group->engines.end(), {std::move(read), {}});
    }
  }
  shared->claimed.insert(lease->profiles.begin(), lease->profiles.end());
  lease->engine = shared->engine;
  lease->shares_profiles = group->shares_profiles.value_or(share_profiles_);
  return {};
}

}  // namespace nereid::tensorrt
