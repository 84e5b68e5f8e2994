// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nereid::repository {

/// No configuration is read beyond this size.
inline constexpr unsigned long long kMaxConfigFileBytes = 64ULL << 20;

/// The file that configures the model: configs/<config_name>.pbtxt if `config_name` is not empty
/// and that file is there, else config.pbtxt, which need not exist.
std::string ConfigFilePath(const std::string& model_directory, const std::string& config_name);

}  // namespace nereid::repository
