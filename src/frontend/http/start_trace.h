// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/http/exchange.h"
#include "request/inference_request.h"
#include "tracing/request_tracer.h"

namespace nereid::frontend::http {

/// Traces the request if it is one of those to be traced: before its submission, when its model is
/// set. `tracer` may be null.
void StartTrace(tracing::RequestTracer* tracer, Exchange& exchange,
                request::InferenceRequest& request);

}  // namespace nereid::frontend::http
