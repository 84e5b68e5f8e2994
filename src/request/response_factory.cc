// SPDX-License-Identifier: Apache-2.0
#include "request/response_factory.h"

#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "request/sequence_states.h"

namespace nereid::request {

ResponseFactory::~ResponseFactory() {
  if (final_sent_.load(std::memory_order_acquire)) return;
  // No shared_ptr to this object can be made any more, so the response gets a factory of its own.
  auto substitute = std::make_shared<ResponseFactory>(std::move(sink_), std::move(model_),
                                                      std::move(id_), std::move(cancellation_));
  substitute->SetTrace(std::move(trace_));
  substitute->SendError(
      base::Status::Internal("the backend of model '" + substitute->model().name +
                             "' released a request without sending its final response"));
}

base::Result<std::unique_ptr<InferenceResponse>> ResponseFactory::NewResponse() {
  auto response = std::make_unique<InferenceResponse>(shared_from_this());
  NEREID_RETURN_IF_ERROR(sink_->ResponseStarted());
  return response;
}

void ResponseFactory::Send(std::unique_ptr<InferenceResponse> response, bool final) {
  if (trace_ != nullptr && response != nullptr) trace_->ReportOutputs(*response);
  const bool already_final = final ? final_sent_.exchange(true, std::memory_order_acq_rel)
                                   : final_sent_.load(std::memory_order_acquire);
  if (already_final) {
    LOG_ERROR << "model '" << model_->name << "' sent a response after the final one of request '"
              << id_ << "'; it is dropped";
    return;
  }
  if (response != nullptr && !response->error().ok())
    failed_.store(true, std::memory_order_release);
  sink_->Send(std::move(response), final);
}

void ResponseFactory::SendFinal() { Send(nullptr, true); }

void ResponseFactory::SendError(base::Status error) {
  auto response = std::make_unique<InferenceResponse>(shared_from_this());
  response->SetError(std::move(error));
  Send(std::move(response), true);
}

void ReleaseRequest(std::unique_ptr<InferenceRequest> request) {
  const std::shared_ptr<ResponseSink> sink = request->sink();
  ResponseFactory& factory = *request->response_factory();
  factory.MarkReleased();
  if (request->states != nullptr) {
    if (factory.HasFailed()) {
      request->states->Discard();
    } else {
      request->states->Commit();
    }
    request->states.reset();
  }
  request->RemoveServerInputs();
  if (Trace* const trace = request->trace()) {
    trace->Report(TraceActivity::kRequestEnd, base::SteadyClock().NowNs());
  }
  if (ReleaseListener* const listener = std::exchange(request->release_listener, nullptr)) {
    listener->OnReleased(*request);
  }
  request->Unbind();
  sink->RequestReleased(std::move(request));
}

void RefuseRequest(std::unique_ptr<InferenceRequest> request, base::Status error) {
  ResponseFactory& factory = *request->response_factory();
  if (!factory.IsFinalSent()) factory.SendError(std::move(error));
  ReleaseRequest(std::move(request));
}

}  // namespace nereid::request
