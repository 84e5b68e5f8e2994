// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "repository/living_versions.h"
#include "repository/model_id.h"
#include "repository/model_table.h"

namespace nereid::repository {

/// A version that requests or sequences use, or that was retired and is not destroyed yet.
struct BoundVersion {
  ModelId id;
  int64_t version = 0;
  size_t requests = 0;   // upper bound of requests and sequences; a reader of the table counts
  bool leaving = false;  // it was retired, and something still holds it
};

/// Returns the versions that something holds: those of the table that have other references, and
/// those of `living` that are not in the table. `living` must not be newer than `table`.
std::vector<BoundVersion> FindBoundVersions(const ModelTable& table,
                                            LivingVersions::Versions living);

}  // namespace nereid::repository
