// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"
#include "model/instance_set.h"

namespace nereid::model {

/// Initializes instances in their backend, each with the placement of its threads. `check` is
/// called with the position of an instance before and after its initialization. With `at_once`,
/// which the backend must permit, instances are initialized at the same time, and `check` is called
/// on several threads. Returns the first error in the order of the instances; after an error no
/// further initialization begins. An exception of the backend leaves the function.
base::Status InitializeInstances(const std::vector<InstancePtr>& instances, bool at_once,
                                 const std::function<base::Status(size_t)>& check);

}  // namespace nereid::model
