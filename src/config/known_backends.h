// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nereid::config {

inline constexpr std::string_view kEnsemblePlatform = "ensemble";
inline constexpr std::string_view kTensorRtPlatform = "tensorrt_plan";

/// Returns the backend of a platform; empty for "ensemble" and for unknown platforms.
std::string_view BackendOfPlatform(std::string_view platform);

/// Returns whether configurations of this backend name a platform. It must then be one of the
/// backend's platforms.
bool BackendHasPlatforms(std::string_view backend);

/// Returns the platform for a backend and a file name; empty if there is none.
std::string_view PlatformOfBackend(std::string_view backend, std::string_view filename);

/// Returns the name of the model file in a version's directory if the configuration names none;
/// empty if the backend has no default.
std::string_view DefaultFilename(std::string_view backend, std::string_view platform);

}  // namespace nereid::config
