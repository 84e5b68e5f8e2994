// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

namespace inference {
class RepositoryModelUnloadRequest;
}  // namespace inference

namespace nereid::codec::proto {

/// Returns the parameter "unload_dependents". Returns UNSUPPORTED for a repository that is named,
/// and INVALID_ARGUMENT for a value of the wrong type.
base::Result<bool> DecodeModelUnloadRequest(const inference::RepositoryModelUnloadRequest& message);

}  // namespace nereid::codec::proto
