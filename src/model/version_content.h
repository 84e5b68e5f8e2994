// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "cache/model_fingerprint.h"
#include "model/background_tasks.h"

namespace nereid::model {

/// The content of a loaded version, for keys of the response cache. Must be created when the
/// version is loaded. Thread-safe.
class VersionContent {
 public:
  VersionContent(std::string name, config::ModelConfigPtr config, std::string directory,
                 std::string version_directory)
      : name_(std::move(name)),
        fingerprint_(std::move(config), std::move(directory), std::move(version_directory)) {}

  /// Returns the fingerprint. The first call reads all files. Errors are those of
  /// cache::ContentFingerprint::Compute.
  base::Result<cache::Digest> Read() { return fingerprint_.Compute(); }

  /// Does the same for the ensembles that call the version. The log has the error.
  void ReadForEnsembles() {
    is_read_ = true;
    const auto read = Read();
    if (read.ok()) return;
    LOG_WARNING_OF(.model = name_) << "answers of ensembles that call model '" << name_
                                   << "' are not cached: " << read.status().message();
  }

  /// Returns the fingerprint if it is known. Else another thread begins to read the files, once.
  std::optional<cache::Digest> Known() {
    auto known = fingerprint_.Known();
    if (!known && !is_read_.exchange(true)) {
      const base::Status started = reader_.Start("model-content", [this] { ReadForEnsembles(); });
      if (!started.ok()) is_read_ = false;  // a later request tries again
    }
    return known;
  }

 private:
  const std::string name_;
  cache::ContentFingerprint fingerprint_;
  std::atomic<bool> is_read_{false};  // or being read
  BackgroundTasks reader_;            // ends before the other members
};

}  // namespace nereid::model
