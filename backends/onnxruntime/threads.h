// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nereid/backend/model_config.h"
#include "onnxruntime/environment.h"

namespace nereid::onnxruntime {

using backend::ModelConfig;

/// The threads of a session: its own pools, of the sizes that the parameters of the model, else the
/// settings of the backend say, or the one pool of the environment.
Error SetThreads(const Environment& environment, const ModelConfig& config,
                 OrtSessionOptions* options);

/// The pools that all sessions share, of the sizes that the backend's settings say.
Error MakeGlobalThreads(const Parameters& settings, Owned<OrtThreadingOptions>* threading);

/// Whether the instances of the model share one session; parameter
/// share_session_between_instances, true by default.
Error SharesSession(const ModelConfig& config, bool* shares);

}  // namespace nereid::onnxruntime
