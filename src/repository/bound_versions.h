// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "repository/living_versions.h"
#include "repository/model_id.h"
#include "repository/model_table.h"

namespace nereid::repository {

/// A version that requests are bound to, or that is on its way out.
struct BoundVersion {
  ModelId id;
  int64_t version = 0;
  size_t requests = 0;   // at least so many, or sequences; a reader of the table counts as one
  bool leaving = false;  // it was taken out of service, and something still holds it
};

/// Finds the versions that something holds: in the table by their references, and those of `living`
/// that are not in the table. `living` must be as old as `table`, or older.
std::vector<BoundVersion> FindBoundVersions(const ModelTable& table,
                                            LivingVersions::Versions living);

}  // namespace nereid::repository
