// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "nereid/backend/error.h"
#include "nereid/backend/model_config.h"

namespace nereid::framework {

using backend::Error;

/// DIRECTORY/VERSION/default_model_filename, or `usual` in that place where the configuration names
/// none. Fails for a name that leads out of the version's folder. Whether the file is there is not
/// looked at.
Error FindVersionFile(const backend::ModelConfig& config, const char* usual,
                      std::filesystem::path* path);

/// UNAVAILABLE: that the model's file is missing.
Error MissingFile(const backend::ModelConfig& config, const std::filesystem::path& path);

}  // namespace nereid::framework
