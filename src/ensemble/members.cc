// SPDX-License-Identifier: Apache-2.0
#include "ensemble/members.h"

#include <algorithm>
#include <utility>

namespace nereid::ensemble {

std::vector<size_t> TensorsOf(const EnsemblePlan& plan, const std::vector<std::string>& names) {
  std::vector<size_t> tensors;
  for (const std::string& name : names) {
    const int found = plan.FindTensor(name);
    if (found < 0) continue;
    const auto tensor = static_cast<size_t>(found);
    if (std::find(tensors.begin(), tensors.end(), tensor) == tensors.end()) {
      tensors.push_back(tensor);
    }
  }
  return tensors;
}

base::Result<std::vector<Member>> FindMembers(const EnsemblePlan& plan,
                                              const MemberDirectory& directory,
                                              const request::RequestFields& request,
                                              const std::vector<size_t>& tensors, size_t* failed) {
  const std::vector<bool> needed = plan.StepsFor(tensors);
  std::vector<Member> members(needed.size());
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    const EnsemblePlan::Step& step = plan.steps()[i];
    auto member = directory.Find(step.space, step.model, step.version, &request);
    if (!member.ok()) {
      *failed = i;
      return member.status();
    }
    members[i] = std::move(member).value();
  }
  return members;
}

}  // namespace nereid::ensemble
