// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"

namespace nereid::frontend::cloud {

/// Returns whether a failure says that memory, or room on a disk, was missing. SageMaker unloads
/// other models then. There is no code for this: the texts of the server and of the frameworks
/// count.
bool IsOutOfMemory(const base::Status& status);

}  // namespace nereid::frontend::cloud
