// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "framework/placement.h"
#include "nereid/backend/model_config.h"
#include "onnxruntime/environment.h"

namespace nereid::onnxruntime {

using backend::ModelConfig;

/// Creates the session options from the model's parameters, optimization settings and custom
/// operators, and from the backend's settings. The session may be used where `placement` says.
Error MakeSessionOptions(const Environment& environment, const ModelConfig& config,
                         framework::Placement placement, std::optional<uint32_t> threads,
                         Owned<OrtSessionOptions>* options);

/// Logs the value of a parameter, if it is given, in Triton's words.
void LogConfiguring(const ModelConfig& config, const std::string& name);

/// Finds a library of custom operators: an absolute path, or a path relative to the version's
/// directory, the model's directory or, as in Triton, the server's working directory. NOT_FOUND
/// otherwise.
Error FindOperatorLibrary(const ModelConfig& config, const std::string& name, std::string* path);

}  // namespace nereid::onnxruntime
