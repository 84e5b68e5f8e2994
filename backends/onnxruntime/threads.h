// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nereid/backend/model_config.h"
#include "nereid/backend/parameters.h"
#include "onnxruntime/ort_api.h"

namespace nereid::onnxruntime {

using backend::ModelConfig;
using backend::Parameters;

/// Sets the threads of a session: its own pools, whose sizes come from the model's parameters, else
/// from the backend's settings; or, if `global`, the shared pool of the environment.
Error SetThreads(const Parameters& settings, bool global, const ModelConfig& config,
                 OrtSessionOptions* options);

/// Creates the options of the pools that all sessions share, with the sizes in the backend's
/// settings.
Error MakeGlobalThreads(const Parameters& settings, Owned<OrtThreadingOptions>* threading);

/// Reads whether the instances of the model share one session (parameter
/// share_session_between_instances, true by default).
Error SharesSession(const ModelConfig& config, bool* shares);

}  // namespace nereid::onnxruntime
