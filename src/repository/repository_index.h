// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "repository/model_poll.h"
#include "repository/model_table.h"

namespace nereid::repository {

/// One line of the repository index; empty members are absent in the answer.
struct IndexEntry {
  std::string name;
  std::string version;
  std::string state;
  std::string reason;
};

/// Lists the models of the directories, with the states that `table` has of their versions. A model
/// that was never loaded has a line without a state; a name that several directories mean has one
/// line that says so. `ready_only`: only versions that serve. Pure.
std::vector<IndexEntry> ListIndex(const std::vector<ModelDirectory>& directories,
                                  const ModelTable& table, bool namespacing, bool ready_only);

}  // namespace nereid::repository
