// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>

#include "base/result.h"

namespace nereid::repository::mirror {

/// Returns the value of an environment variable, or null.
using Environment = std::function<const char*(const char* name)>;

/// Returns where the model cache is without --model-cache-directory: below the directory of
/// TRITON_AWS_MOUNT_DIRECTORY, TRITON_GCS_MOUNT_DIRECTORY or TRITON_AZURE_MOUNT_DIRECTORY, the
/// first one that is set and whose store a repository is in; else below $TMPDIR or /tmp, with the
/// user in its name.
std::string DefaultCacheDirectory(const std::set<std::string>& repositories,
                                  const Environment& environment);

/// Makes the directory above the cache, and returns the cache's directory: `given`, or the default
/// if that is empty. INVALID_ARGUMENT if the default below a directory for temporary files belongs
/// to another user or others may write to it: they could exchange the models.
base::Result<std::string> PrepareCacheDirectory(const std::string& given,
                                                const std::set<std::string>& repositories,
                                                const Environment& environment);

}  // namespace nereid::repository::mirror
