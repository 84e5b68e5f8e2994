// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/start_trace.h"

namespace nereid::frontend::http {

void StartTrace(tracing::RequestTracer* tracer, Exchange& exchange,
                request::InferenceRequest& request) {
  if (tracer != nullptr) exchange.SetTrace(tracer->Start(request));
}

}  // namespace nereid::frontend::http
