// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/start_trace.h"

namespace nereid::frontend::http {

void StartTrace(tracing::RequestTracer* tracer, Exchange& exchange,
                request::InferenceRequest& request) {
  if (tracer == nullptr) return;
  exchange.trace = tracer->Start(request);
  // Without times, tracing was off when the request began to arrive.
  if (exchange.trace == nullptr || exchange.receive_end_ns == 0) return;
  exchange.trace->Stamp("HTTP_RECV_START", exchange.receive_start_ns);
  exchange.trace->Stamp("HTTP_RECV_END", exchange.receive_end_ns);
}

}  // namespace nereid::frontend::http
