// SPDX-License-Identifier: Apache-2.0
#include "repository/load_job.h"

namespace nereid::repository {

const LoadOverrides& LoadJob::Overrides() const {
  static const LoadOverrides kNone;
  return overrides == nullptr ? kNone : *overrides;
}

std::map<ModelId, std::set<ModelId>> MembersToAwait(const LoadJobs& jobs) {
  std::map<ModelId, std::set<ModelId>> members;
  for (const auto& [id, job] : jobs) {
    std::set<ModelId>& awaited = members[id];
    for (const std::string& name : job.members) {
      const ModelId own{name, id.space};
      if (jobs.contains(own)) {
        awaited.insert(own);
        continue;
      }
      for (auto it = jobs.lower_bound({name}); it != jobs.end() && it->first.name == name; ++it) {
        awaited.insert(it->first);
      }
    }
  }
  return members;
}

}  // namespace nereid::repository
