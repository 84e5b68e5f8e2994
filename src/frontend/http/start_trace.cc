// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/start_trace.h"

namespace nereid::frontend::http {

void StartTrace(tracing::RequestTracer* tracer, Exchange& exchange,
                request::InferenceRequest& request) {
  if (tracer != nullptr) exchange.SetTrace(tracer->Start(request, &exchange.head().trace));
}

}  // namespace nereid::frontend::http
