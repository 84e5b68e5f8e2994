// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "nereid/backend/error.h"
#include "nereid/backend/model_config.h"

namespace nereid::framework {

using backend::Error;

/// Returns the path DIRECTORY/VERSION/default_model_filename, with `usual` as the default file
/// name. INVALID_ARG for a name that leads out of the version's directory. Does not check whether
/// the file exists.
Error FindVersionFile(const backend::ModelConfig& config, const char* usual,
                      std::filesystem::path* path);

/// Returns UNAVAILABLE with Triton's message for a missing model file.
Error MissingFile(const backend::ModelConfig& config, const std::filesystem::path& path);

}  // namespace nereid::framework
