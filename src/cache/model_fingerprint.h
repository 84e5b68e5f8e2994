// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

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

/// Returns the digest of an ensemble from its own digest and its members' digests, in the order of
/// its steps.
base::Result<Digest> CombineFingerprints(const Digest& own, const std::vector<Digest>& members);

}  // namespace nereid::cache
