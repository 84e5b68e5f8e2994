// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/status.h"

namespace nereid::api {

// What clients may ask for by the protocols and this server does not offer. The front ends say it
// in the same words.

/// Returns UNSUPPORTED for a repository that is named in a request: models are found by their own
/// names alone.
base::Status CheckRepositoryName(std::string_view repository);

/// Returns UNSUPPORTED for an operation of an extension that is not there, such as "system shared
/// memory".
base::Status ExtensionUnsupported(std::string_view extension);

/// Returns UNSUPPORTED for an input or output that is asked to be in shared memory.
base::Status TensorInSharedMemoryUnsupported(std::string_view tensor);

}  // namespace nereid::api
