// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "config/model_config.h"
#include "repository/model_id.h"

namespace nereid::repository {

/// A loaded model version, as far as the repository cares: something that can be asked whether it
/// works, and that is gone when its last shared_ptr is.
class LoadedModel {
 public:
  virtual ~LoadedModel() = default;
  /// As it is served.
  virtual const config::ModelConfig& config() const = 0;
  /// New requests are refused from now on; those in flight finish.
  virtual void StopAccepting() = 0;
  /// Whether the model's backend says that it can work.
  virtual base::Status CheckReady() = 0;
  /// Sequences whose next request may come.
  virtual size_t LiveSequences() const { return 0; }
  /// Called once, when this object has taken its place in the table.
  virtual void Activate() {}
  /// Called once, when it has left the table: no request finds it any more, though those that have
  /// may still come. `successor` has taken its place; null if nothing has.
  virtual void OnRemoved(const LoadedModel* /*successor*/) {}
};

/// Which version of which model to load, and from where.
struct VersionSource {
  ModelId id;
  int64_t version = 0;
  std::string directory;          // the model's
  std::string version_directory;  // the version's
  config::ModelConfigPtr config;  // completed from the files, normalised, validated
  bool configured = true;         // false: neither a file nor an override configures it
  /// What keeps the files where they are; to be kept for as long as the model, and let go after it.
  std::shared_ptr<const void> origin = nullptr;
};

/// Makes a LoadedModel of a version; implemented by whoever knows models. Called from several
/// threads at once; blocks while the framework loads.
class ModelLoader {
 public:
  virtual ~ModelLoader() = default;
  /// `on_destroyed` is called, on any thread, when the model is gone for good.
  virtual base::Result<std::shared_ptr<LoadedModel>> Load(const VersionSource& source,
                                                          std::function<void()> on_destroyed) = 0;

  /// The model that `serving` stands for, with the instance groups of `source.config`, which
  /// differs from the one that was loaded in nothing else but the version policy. The change takes
  /// effect when the result is activated; without that, `serving` stays as it is.
  virtual base::Result<std::shared_ptr<LoadedModel>> Update(
      const std::shared_ptr<LoadedModel>& serving, const VersionSource& source,
      std::function<void()> on_destroyed) = 0;
};

}  // namespace nereid::repository
