// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/tools/migrate/migration.h"
#include "base/result.h"

namespace nereid::app::tools {

/// How a repository is written.
struct RepositoryWish {
  std::string folder;   // must not exist, or be empty
  bool copies = false;  // model files are copied; else they are links to absolute paths
  /// The beginnings of base paths to replace: those in the other server's container, and where they
  /// are here. Relative base paths begin in `base`.
  std::vector<std::pair<std::string, std::string>> places;
  std::string base;
};

/// What became of a model or a pipeline.
struct MigratedRow {
  std::string name;
  std::string what;  // "versions 1, 3 of /models/x"; the reason if it was not converted
  bool is_converted = false;
  std::vector<std::string> notes;  // what is not carried over
  std::vector<std::string> hints;  // what is left to do
};

/// Writes the repository. A model that cannot be converted is a row with the reason; nothing of it
/// is written. Errors are those of the folder of the repository itself.
base::Result<std::vector<MigratedRow>> WriteRepository(Migration migration,
                                                       const RepositoryWish& wish);

}  // namespace nereid::app::tools
