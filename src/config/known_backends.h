// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nereid::config {

inline constexpr std::string_view kEnsemblePlatform = "ensemble";
inline constexpr std::string_view kTensorRtPlatform = "tensorrt_plan";

/// The backend that a platform belongs to; empty for "ensemble" and platforms that nobody knows.
std::string_view BackendOfPlatform(std::string_view platform);

/// Whether configurations of this backend name a platform, which then has to be one of its own.
bool BackendHasPlatforms(std::string_view backend);

/// The platform that goes with a backend and a file name; empty if there is none.
std::string_view PlatformOfBackend(std::string_view backend, std::string_view filename);

/// The file that a version's directory holds where the configuration names none; empty if the
/// backend has no such convention.
std::string_view DefaultFilename(std::string_view backend, std::string_view platform);

}  // namespace nereid::config
