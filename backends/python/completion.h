// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidjson/document.h>

#include <string>

#include "nereid/backend/error.h"
#include "python/supervisor.h"

namespace nereid::python {

/// Runs auto_complete_config() of a model in a process of its own, which ends with the call.
/// `*completed` is the configuration that the function returned, as JSON text; empty if the model
/// has no such function.
backend::Error RunCompletion(const SupervisorSettings& settings, Spawner* spawner,
                             std::string* completed);

/// Takes the parts of a completed configuration that the server accepts: max_batch_size, inputs,
/// outputs, the scheduler if there was none, and the transaction policy.
backend::Error MergeCompletion(const std::string& completed, rapidjson::Document* document);

}  // namespace nereid::python
