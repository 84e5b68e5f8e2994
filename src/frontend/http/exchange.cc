// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/exchange.h"

namespace nereid::frontend::http {

void Exchange::SetTrace(std::shared_ptr<tracing::RequestTrace> trace) {
  trace_ = std::move(trace);
  // Without times, tracing was off when the request began to arrive.
  if (trace_ == nullptr || request_.receive_end_ns == 0) return;
  trace_->Stamp("HTTP_RECV_START", request_.receive_start_ns);
  trace_->Stamp("HTTP_RECV_END", request_.receive_end_ns);
}

}  // namespace nereid::frontend::http
