// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "cache/digest.h"
#include "request/inference_request.h"

namespace nereid::cache {

/// Returns a digest of everything in which two requests must agree to get the same response. It
/// covers, of a bound and normalized request:
///   - the model's name and version, and `fingerprint`, which identifies the model's content
///   - the inputs, sorted by name: name, data type, shape, bytes
///   - the requested outputs, in the order of the request (backends answer in that order)
///   - the parameters, stably sorted by name (on the wire they are a map): name, kind, value
///
/// It leaves out what no response depends on: the request's id, priority, timeout and deadline, the
/// division of the bytes into pieces, and the protocol.
///
/// Returns nothing for a request that must not be answered from the cache: one of a sequence, whose
/// response depends on earlier requests, one with inputs in GPU memory, and one with tensors in
/// memory that its client can change meanwhile.
std::optional<Digest> ComputeRequestKey(const request::InferenceRequest& request,
                                        const Digest& fingerprint);

}  // namespace nereid::cache
