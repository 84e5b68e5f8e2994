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

/// Reads whether the server chooses the number of threads of each execution, so that the model
/// needs a session for each number. Settings that fix the number, or how threads wait, win.
Error ThreadsVary(const Parameters& settings, bool global, const ModelConfig& config, bool* vary);

/// Sets the threads of a session that is used while the server gives each execution `threads` CPUs.
Error SetVariedThreads(uint32_t threads, OrtSessionOptions* options);

/// Creates the options of the pools that all sessions share, with the sizes in the backend's
/// settings.
Error MakeGlobalThreads(const Parameters& settings, Owned<OrtThreadingOptions>* threading);

/// Reads whether the instances of the model share one session (parameter
/// share_session_between_instances, true by default).
Error SharesSession(const ModelConfig& config, bool* shares);

}  // namespace nereid::onnxruntime
