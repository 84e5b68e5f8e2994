// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>

#include "base/result.h"
#include "repository/load_job.h"
#include "repository/load_order.h"
#include "repository/model_id.h"

namespace nereid::repository {

/// Calls `load` once for each model in the order of `order`, on up to `threads` threads including
/// the caller's, and returns the results. If the system cannot start a thread, fewer are used.
std::map<ModelId, base::Result<LoadOutcome>> LoadInOrder(
    LoadOrder order, size_t threads,
    const std::function<base::Result<LoadOutcome>(const ModelId&)>& load);

}  // namespace nereid::repository
