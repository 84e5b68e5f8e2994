// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/status.h"
#include "model/model_version.h"
#include "repository/model_lifecycle.h"
#include "request/inference_request.h"

namespace nereid::server {

/// Returns, while the server stops, OK for a request that may continue a sequence of this version,
/// else UNAVAILABLE "Server is stopping, …".
base::Status CheckContinues(const request::InferenceRequest& request,
                            const model::ModelVersion& version);

/// Returns UNAVAILABLE "Server is stopping, …". `names_unknown` says whether a request without an
/// id gets the prefix too; Triton's sequence batcher omits it.
base::Status StoppingStatus(const request::InferenceRequest& request, bool names_unknown = true);

/// Returns whether no request, no live sequence and no load is in flight.
bool IsIdle(const repository::ModelLifecycle& lifecycle);

/// Blocks until IsIdle, at most until `deadline_ns` (monotonic). Returns whether it is idle then.
/// Logs once a second the models that it waits for.
bool WaitUntilIdle(const repository::ModelLifecycle& lifecycle, uint64_t deadline_ns);

/// Returns INTERNAL "Exit timeout expired. …" with the names of the models that are still in use.
base::Status ExpiredStatus(const repository::ModelLifecycle& lifecycle);

/// Unloads all models and waits until they are destroyed, at most until `deadline_ns`. Returns
/// INTERNAL with the names of the models that a backend still holds then. `log`: writes Triton's
/// lines, one each second.
base::Status UnloadAllModels(repository::ModelLifecycle& lifecycle, uint64_t deadline_ns, bool log);

}  // namespace nereid::server
