// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/http/exchange.h"
#include "request/inference_request.h"
#include "tracing/request_tracer.h"

namespace nereid::frontend::http {

/// Begins a trace of `request`, and keeps it in `exchange`, if the settings of its model select the
/// request. Called after the model's name is set and before the submission. `tracer` may be null.
void StartTrace(tracing::RequestTracer* tracer, Exchange& exchange,
                request::InferenceRequest& request);

}  // namespace nereid::frontend::http
