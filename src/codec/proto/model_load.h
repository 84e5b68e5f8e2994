// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/inference_service.h"
#include "base/result.h"

namespace inference {
class RepositoryModelLoadRequest;
}  // namespace inference

namespace nereid::codec::proto {

/// Returns the parameters of a load. Returns UNSUPPORTED for a repository that is named, and
/// INVALID_ARGUMENT for an unknown parameter or a value of the wrong type.
base::Result<std::vector<api::LoadParameter>> DecodeModelLoadRequest(
    const inference::RepositoryModelLoadRequest& message);

}  // namespace nereid::codec::proto
