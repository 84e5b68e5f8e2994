// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "repository/model_poll.h"
#include "repository/model_table.h"
#include "repository/repository_storage.h"
#include "repository/requests/load_board.h"

namespace nereid::repository {

/// One entry of the repository index; empty members are absent in the response.
struct IndexEntry {
  std::string name;
  std::string version;
  std::string state;
  std::string reason;
};

/// Returns the models of the directories with the states of their versions in `table`. A model that
/// was never loaded, or has no version, has an entry without a version and a state. A name of
/// several directories has one entry whose reason says so. With `ready_only`, only versions that
/// serve are returned.
std::vector<IndexEntry> ListIndex(const std::vector<ModelDirectory>& directories,
                                  const ModelTable& table, bool namespacing, bool ready_only);

/// Shows the models of which no version serves and whose files are being fetched as LOADING, with
/// the progress as the reason. `entries` comes from ListIndex with the same directories.
void AddFetchProgress(const std::vector<ModelDirectory>& directories,
                      const RepositoryStorage& storage, std::vector<IndexEntry>* entries);

/// Gives models without a version whose last load has failed the state UNAVAILABLE and the reason
/// of that failure. `entries` comes from ListIndex.
void AddFailedLoads(const LoadBoard::Records& records, std::vector<IndexEntry>* entries);

/// Gives versions that serve although a later load of their model has failed the reason of that
/// failure. `entries` comes from ListIndex.
void AddFailedReloads(const LoadBoard::Records& records, std::vector<IndexEntry>* entries);

}  // namespace nereid::repository
