// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nereid/backend/model_config.h"
#include "onnxruntime/environment.h"

namespace nereid::onnxruntime {

using backend::ModelConfig;

/// What the parameters of the model, its optimization settings, its custom operators and the
/// backend's settings ask for.
Error MakeSessionOptions(const Environment& environment, const ModelConfig& config,
                         Owned<OrtSessionOptions>* options);

/// The place of a library of custom operators: `name` as it is where that is absolute, else in the
/// version's folder, in the model's, or, as in Triton, in the server's working directory.
Error FindOperatorLibrary(const ModelConfig& config, const std::string& name, std::string* path);

}  // namespace nereid::onnxruntime
