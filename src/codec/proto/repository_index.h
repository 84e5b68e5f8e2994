// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/metadata.h"
#include "base/result.h"

namespace inference {
class RepositoryIndexRequest;
class RepositoryIndexResponse;
}  // namespace inference

namespace nereid::codec::proto {

/// Returns whether only ready models are wanted. Returns UNSUPPORTED for a repository that is
/// named.
base::Result<bool> DecodeRepositoryIndexRequest(const inference::RepositoryIndexRequest& message);

/// Fills the message of the index. Bytes of reasons that are not UTF-8 are replaced.
void EncodeRepositoryIndex(const std::vector<api::RepositoryIndexEntry>& entries,
                           inference::RepositoryIndexResponse* message);

}  // namespace nereid::codec::proto
