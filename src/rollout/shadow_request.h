// SPDX-License-Identifier: Apache-2.0
// The copy of a request for a shadow version, and the answers to both.
#pragma once

#include <memory>
#include <optional>

#include "request/inference_request.h"
#include "request/inference_response.h"
#include "rollout/output_comparison.h"
#include "rollout/shadow_traffic.h"

namespace nereid::rollout {

/// Returns a copy of a request that was not submitted yet, whose sink gives the answer to `pair`.
/// The inputs are shared: `request` and the copy keep their memory alive. Returns null for a
/// request with tensors in shared memory, because a client may change these after its answer.
std::unique_ptr<request::InferenceRequest> CopyForShadow(request::InferenceRequest& request,
                                                         std::shared_ptr<ShadowPair> pair);

/// Returns the answer in `response`, whose outputs it shares: the response may be sent and
/// destroyed afterwards. Returns nothing if an output is in memory that cannot be shared.
std::optional<Answer> ShareAnswer(request::InferenceResponse& response);

}  // namespace nereid::rollout
