// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace nereid::config {

/// The library that a version of a model asks for.
struct BackendLibrarySearch {
  std::string model;
  std::string backend;
  /// The file's name; empty for libtriton_<backend>.so.
  std::string runtime;
  std::string version_directory;
  std::string model_directory;
};

/// Where the library may be, in the order in which it is looked for: the version's directory, the
/// model's, <backend directory>/<backend>. INVALID_ARGUMENT if the backend or the file is not a
/// plain name.
base::Result<std::vector<std::string>> BackendLibraryPlaces(const BackendLibrarySearch& search,
                                                            const std::string& backend_directory);

/// What the server says when none of them is there.
std::string NoBackendLibraryText(const BackendLibrarySearch& search,
                                 const std::string& backend_directory);

}  // namespace nereid::config
