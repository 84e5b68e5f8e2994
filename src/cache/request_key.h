// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "cache/digest.h"
#include "request/inference_request.h"

namespace nereid::cache {

/// What two requests must agree in to get the same answer, as a digest. It covers, of a bound and
/// normalised request:
///   the model's name and version, and `fingerprint`, which stands for the model's content
///   the inputs, sorted by name: name, data type, shape, bytes
///   the requested outputs, in the order of the request (backends answer in that order)
///   the parameters, stably sorted by name (on the wire they are a map): name, kind, value
/// and leaves out what no answer depends on: the request's id, priority, timeout, deadline, the
/// pieces that the bytes came in, the way they came.
///
/// Nothing for a request that must not be answered from memory: one of a sequence (the answer
/// depends on what came before), and one whose bytes are not in host memory.
std::optional<Digest> ComputeRequestKey(const request::InferenceRequest& request,
                                        const Digest& fingerprint);

}  // namespace nereid::cache
