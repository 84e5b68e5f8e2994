// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/mutex.h"
#include "tensorrt/engine.h"

namespace nereid::tensorrt {

/// An engine that an instance uses, with the profiles that it may use.
struct EngineLease {
  Gpu* gpu = nullptr;
  std::shared_ptr<const Engine> engine;
  std::vector<int> profiles;
  /// False if only one context at a time may use a profile of the engine.
  bool shares_profiles = true;
};

/// The engines of a model: one for each GPU (and DLA core), which its instances share, so that the
/// weights are in memory once. Where only one execution context may use a profile of an engine,
/// further instances with the same profile get another engine there. Engines live as
/// long as the pool or an instance. Thread-safe.
class EnginePool {
 public:
  /// `share_profiles`: whether several contexts may use a profile, as since TensorRT 10. It is
  /// tried with each plan, because a plan may have been made by an older TensorRT and bring its
  /// runtime.
  explicit EnginePool(bool share_profiles) : share_profiles_(share_profiles) {}
  EnginePool();
  EnginePool(const EnginePool&) = delete;
  EnginePool& operator=(const EnginePool&) = delete;

  /// Finds or reads the engine. `gpu` must be the current GPU. Reads for different GPUs run at the
  /// same time.
  Error Take(const TensorRtLibrary& library, Gpu* gpu, const EngineSource& source,
             std::span<const std::string> profiles, EngineLease* lease);
  /// Does the same without a claim on a profile, to look at the engine only.
  Error Look(const TensorRtLibrary& library, Gpu* gpu, const EngineSource& source,
             std::shared_ptr<const Engine>* engine);

 private:
  struct Shared {
    std::shared_ptr<const Engine> engine;
    std::set<int> claimed;  // the profiles that contexts use
  };
  struct Group {
    base::Mutex mutex;  // held while an engine is read
    std::vector<Shared> engines NEREID_GUARDED_BY(mutex);
    /// Whether contexts may share a profile; nothing before that was tried.
    std::optional<bool> shares_profiles NEREID_GUARDED_BY(mutex);
  };
  /// The ordinal of a GPU, a DLA core and a file.
  using Key = std::tuple<int, int, std::string>;

  /// Returns whether a further context may use a profile that is claimed.
  bool MayShare(Group* group, Gpu* gpu, int profile) NEREID_REQUIRES(group->mutex);
  std::shared_ptr<Group> Find(const Gpu& gpu, const EngineSource& source);

  const bool share_profiles_;
  base::Mutex mutex_;
  std::map<Key, std::shared_ptr<Group>> groups_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::tensorrt
