// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace nereid::config {

/// Where the library of a backend may be, in the order in which it is looked for: the version's
/// directory, the model's, <backend directory>/<backend>. The file is `runtime` if the
/// configuration names one, else libtriton_<backend>.so. INVALID_ARGUMENT if either is not a plain
/// name.
base::Result<std::vector<std::string>> BackendLibraryPlaces(const std::string& backend,
                                                            const std::string& runtime,
                                                            const std::string& version_directory,
                                                            const std::string& model_directory,
                                                            const std::string& backend_directory);

/// What the server says when none of them is there.
std::string NoBackendLibraryText(const std::string& backend);

}  // namespace nereid::config
