// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/status.h"

namespace nereid::api {

// Errors for features of the protocols that this server does not have. Every front end uses them,
// so that the texts are equal.

/// Returns UNSUPPORTED if a request names a repository: models are found by their own names only.
base::Status CheckRepositoryName(std::string_view repository);

/// Returns UNSUPPORTED for an operation of an extension that the server lacks, such as "trace".
base::Status ExtensionUnsupported(std::string_view extension);

}  // namespace nereid::api
