// SPDX-License-Identifier: Apache-2.0
#include "request/traced_sink.h"

#include "base/clock.h"
#include "request/inference_response.h"

namespace nereid::request {

void TracedSink::Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept {
  if (response != nullptr && response->error().ok()) trace_->ReportOutputs(response->outputs());
  trace_->listener().OnResponse(*trace_, base::SteadyClock().NowNs());
  ForwardingSink::Send(std::move(response), final);
}

}  // namespace nereid::request
