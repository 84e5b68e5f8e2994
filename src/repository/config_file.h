// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nereid::repository {

/// The largest configuration file that is read.
inline constexpr unsigned long long kMaxConfigFileBytes = 64ULL << 20;

/// Returns the path of the file that configures the model: configs/<config_name>.pbtxt if
/// `config_name` is not empty and that file exists, else config.pbtxt, which may not exist.
std::string ConfigFilePath(const std::string& model_directory, const std::string& config_name);

}  // namespace nereid::repository
