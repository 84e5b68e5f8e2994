// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "nereid/backend/error.h"
#include "python/messages.h"
#include "python/segment_uses.h"
#include "triton/core/tritonbackend.h"

namespace nereid::python {

/// Returns the error that a result of kind kError says.
backend::Error ErrorOf(const WireResult& result);

/// Checks that type, shape and size of a worker's tensor belong together. INTERNAL otherwise.
backend::Error CheckTensor(const WireTensor& tensor);

/// Checks the elements of a BYTES tensor after they were copied: the worker cannot change them
/// then.
backend::Error CheckElements(const WireTensor& tensor, const char* content);

/// The names of the outputs that the server keeps as states of a sequence
/// (`sequence_batching.state`, `output_name`).
using StateNames = std::set<std::string, std::less<>>;

/// Writes the outputs of a result that are states, and returns what is left for the response in
/// `*rest`: a state belongs there only if the client has requested an output with its name.
backend::Error WriteStates(const WireResult& result, SegmentUses* content, const StateNames& states,
                           TRITONBACKEND_Request* request, WireResult* rest);

/// Adds the outputs and the parameters of a result of kind kResponse to `response`. An output that
/// the worker passes in GPU memory is offered to the server there.
/// Large outputs may refer to segments of `content` until the server does not need them any more.
backend::Error FillResponse(const WireResult& result, SegmentUses* content,
                            TRITONBACKEND_Response* response);

}  // namespace nereid::python
