// SPDX-License-Identifier: Apache-2.0
// How a request is bound to the model that executes it, and how that ends.
#pragma once

#include <memory>

#include "base/status.h"
#include "request/inference_request.h"

namespace nereid::request {

/// Binds the request to a loaded model and creates its response factory. Called once per
/// submission, by the service.
void BindRequest(InferenceRequest& request, std::shared_ptr<const ModelIdentity> model);

/// Commits what the backend wrote to the sequence's states. Discards it after an error response,
/// and after the last execution (`is_last`) of a request that nobody has answered and nobody can
/// answer any more. Removes the states and all inputs added by the server from the request. Part of
/// ReleaseRequest and of rescheduling.
void SettleStates(InferenceRequest& request, bool is_last);

/// Takes a request back from its backend: settles its states, tells its release listener, and
/// returns it to its sink. If the backend holds no other reference to the response factory and sent
/// no final response, this makes the factory send its error.
void ReleaseRequest(std::unique_ptr<InferenceRequest> request);

/// Sends `error` as the final response of a request, unless it had one, and releases the request.
void RefuseRequest(std::unique_ptr<InferenceRequest> request, base::Status error);

}  // namespace nereid::request
