// SPDX-License-Identifier: Apache-2.0
#include "repository/bound_versions.h"

#include <algorithm>

namespace nereid::repository {

std::vector<BoundVersion> FindBoundVersions(const ModelTable& table,
                                            LivingVersions::Versions living) {
  std::vector<BoundVersion> bound;
  for (const auto& [id, versions] : table.models()) {
    for (const auto& [version, record] : versions) {
      if (record.model() == nullptr) continue;
      const auto found = living.find({id, version});
      if (found != living.end()) living.erase(found);
      // The table has one reference. A request has one, and another for its responses.
      const auto references = static_cast<size_t>(std::max(0L, record.model().use_count() - 1));
      const size_t requests = std::max((references + 1) / 2, record.model()->LiveSequences());
      if (requests > 0) bound.push_back({id, version, requests, false});
    }
  }
  for (const auto& [id, version] : living) bound.push_back({id, version, 1, true});
  return bound;
}

}  // namespace nereid::repository
