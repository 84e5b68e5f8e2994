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

/// A loaded model version as the repository sees it. It is destroyed with its last shared_ptr.
class LoadedModel {
 public:
  virtual ~LoadedModel() = default;
  /// Returns the configuration that the version serves with.
  virtual const config::ModelConfig& config() const = 0;
  /// Returns OK if the backend reports that the model is ready.
  virtual base::Status CheckReady() = 0;
  /// Returns the number of sequences that have not ended.
  virtual size_t LiveSequences() const { return 0; }
  /// Called before this object is added to the table, with the version that requests for it have
  /// reached so far. Sequences that are open there may continue.
  virtual void Succeed(const std::shared_ptr<LoadedModel>& /*predecessor*/) {}
  /// Called once, after this object was added to the table.
  virtual void Activate() {}
  /// Called once, after the object was removed from the table. No further request finds it, but
  /// requests that found it before may still arrive. `successor` is the version that gets its
  /// requests, whose Succeed() was called with this object, or null.
  virtual void OnRemoved(const LoadedModel* /*successor*/) {}
};

/// The model version to load, and its files.
struct VersionSource {
  ModelId id;
  int64_t version = 0;
  std::string directory;           // the model's
  std::string version_directory;   // the version's
  config::ModelConfigPtr config;   // completed from the files, normalized, validated
  config::ModelConfigPtr written;  // as it was read; empty without a configuration
  bool configured = true;          // false if neither a file nor an override configures it
  /// Keeps the files in place. It must be released after the model is destroyed.
  std::shared_ptr<const void> origin = nullptr;
};

/// Creates models; implemented by the server, because the content of a model is opaque to the
/// repository. Called from several threads at once; blocks while the framework loads.
class ModelLoader {
 public:
  virtual ~ModelLoader() = default;
  /// Loads a version. `on_destroyed` is called, on any thread, after the model is destroyed.
  virtual base::Result<std::shared_ptr<LoadedModel>> Load(const VersionSource& source,
                                                          std::function<void()> on_destroyed) = 0;

  /// Returns the model of `serving` with the instance groups of `source.config`. The other fields
  /// of that configuration equal the loaded one, except the version policy. The change takes effect
  /// when the result is activated; until then `serving` is unchanged.
  virtual base::Result<std::shared_ptr<LoadedModel>> Update(
      const std::shared_ptr<LoadedModel>& serving, const VersionSource& source,
      std::function<void()> on_destroyed) = 0;
};

}  // namespace nereid::repository
