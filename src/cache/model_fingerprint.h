// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cache/digest.h"
#include "config/model_config.h"

namespace nereid::cache {

/// Stands for what a model version computes: a digest of its configuration (without what only says
/// how it is run: instances, batching, warmup, version policy, metrics, the cache itself) and of
/// the names and contents of its files: everything below `version_directory`, and the regular files
/// in `directory` itself but for the configuration. Directories named __pycache__ are left out:
/// running the model writes them. A directory that does not exist counts as an empty one.
///
/// So a model that is loaded anew with other content does not find the answers of its former self,
/// and servers with the same content share a cache. What a model reads from elsewhere is not seen.
/// Reads all of the files: blocks.
base::Result<Digest> FingerprintModel(const config::ModelConfig& config,
                                      const std::string& directory,
                                      const std::string& version_directory);

/// Stands for what an ensemble computes: its own digest and those of its members, in the order of
/// its steps.
base::Result<Digest> CombineFingerprints(const Digest& own, const std::vector<Digest>& members);

}  // namespace nereid::cache
