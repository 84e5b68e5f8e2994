// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "repository/model_poll.h"

namespace nereid::repository {

/// A directory in which a model was unpacked from an archive, seen as a model repository.
struct ArchivedModel {
  std::string repository;  // without links
  NameMapping names;
};

/// Finds the model in `directory`, to be loaded by the name `name`. The directory is that of the
/// model (it has a configuration or versions), or one of its subdirectories is, or several are: an
/// ensemble and the models that it calls. Returns INVALID_ARGUMENT, with what was found, for
/// anything else. Blocks while the file system is read.
base::Result<ArchivedModel> FindArchivedModel(const std::string& directory, const std::string& name,
                                              const PollOptions& options);

}  // namespace nereid::repository
