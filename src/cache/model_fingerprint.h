// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "cache/digest.h"
#include "config/model_config.h"

namespace nereid::cache {

/// Returns a digest of what determines a model version's results: its configuration, without the
/// fields that only say how it runs (instances, batching, warm-up, version policy, metrics, the
/// cache itself), and the names and contents of its files. Files are everything below
/// `version_directory`, and the regular files in `directory` except config.pbtxt. Directories named
/// __pycache__ are left out, because running the model writes them. A directory that does not exist
/// counts as empty.
///
/// So a model that is reloaded with other content does not get responses of its former content, and
/// servers with the same content can share a cache. Files that a model reads from elsewhere are not
/// covered. Blocks, because it reads all files. Returns UNAVAILABLE if a file cannot be read.
base::Result<Digest> FingerprintModel(const config::ModelConfig& config,
                                      const std::string& directory,
                                      const std::string& version_directory);

/// The fingerprint of one loaded version, which is computed when it is first needed. Thread-safe.
class ContentFingerprint {
 public:
  /// Records the names, sizes and times of the files. Must be created when the version is loaded:
  /// files that are changed later are not what the version answers with.
  ContentFingerprint(config::ModelConfigPtr config, std::string directory,
                     std::string version_directory);

  /// Returns the fingerprint; the first call reads all files. Returns UNAVAILABLE if a file cannot
  /// be read, or if the files were changed since the object was created.
  base::Result<Digest> Compute();
  /// Returns the fingerprint if it was computed, without waiting.
  std::optional<Digest> Known() const;

 private:
  base::Result<Digest> Read() const;

  const config::ModelConfigPtr config_;
  const std::string directory_, version_directory_;
  const std::string marks_;
  base::Mutex mutex_;  // held while the files are read
  std::optional<base::Result<Digest>> result_ NEREID_GUARDED_BY(mutex_);
  Digest known_{};  // written once, before is_known_
  std::atomic<bool> is_known_{false};
};

/// Returns the digest of what answers a request to an ensemble: its own digest, and those of the
/// members that the request needs, in the order of their steps. Returns nothing if the
/// cryptographic library failed.
std::optional<Digest> CombineFingerprints(const Digest& own, const std::vector<Digest>& members);

}  // namespace nereid::cache
