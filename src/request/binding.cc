// SPDX-License-Identifier: Apache-2.0
#include "request/binding.h"

#include <new>
#include <utility>

#include "base/clock.h"
#include "request/response_factory.h"
#include "request/sequence_states.h"
#include "request/traced_sink.h"

namespace nereid::request {
namespace {

/// Returns false if memory is short.
bool TrySendError(ResponseFactory& factory, base::Status error) {
  try {
    factory.SendError(std::move(error));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

void BindRequest(InferenceRequest& request, std::shared_ptr<const ModelIdentity> model) {
  std::shared_ptr<ResponseSink> sink = request.sink();
  if (request.trace() != nullptr) {
    request.trace()->Describe(*model, request.id);
    sink = std::make_shared<TracedSink>(std::move(sink), request.shared_trace());
  }
  auto factory =
      std::make_shared<ResponseFactory>(std::move(sink), model, request.id, request.cancellation());
  request.Bind(std::move(model), std::move(factory));
}

void SettleStates(InferenceRequest& request, bool is_last) {
  if (const auto states = std::exchange(request.states, nullptr)) {
    const std::shared_ptr<ResponseFactory>& factory = request.response_factory();
    if (factory->HasFailed() || (is_last && ResponseFactory::IsAbandoned(factory))) {
      states->Discard();
    } else {
      states->Commit();
    }
  }
  request.inputs().RemoveAddedByServer();
}

void ReleaseRequest(std::unique_ptr<InferenceRequest> request) {
  const std::shared_ptr<ResponseSink> sink = request->sink();
  request->response_factory()->MarkReleased();
  SettleStates(*request, /*is_last=*/true);
  if (Trace* const trace = request->trace()) {
    trace->Report(TraceActivity::kRequestEnd, base::SteadyClock().NowNs());
  }
  if (ReleaseListener* const listener = std::exchange(request->release_listener, nullptr)) {
    // Before the request returns to its sink, which may destroy it or submit it again.
    listener->OnReleased(*request);
  }
  request->Unbind();
  sink->RequestReleased(std::move(request));
}

void RefuseRequest(std::unique_ptr<InferenceRequest> request, base::Status error) {
  ResponseFactory& factory = *request->response_factory();
  // If not even the short error fits into memory, the factory answers when it is destroyed. The
  // request must be released in any case.
  if (!factory.IsFinalSent() && !TrySendError(factory, std::move(error))) {
    (void)TrySendError(factory, base::Status::Unavailable("out of memory"));
  }
  ReleaseRequest(std::move(request));
}

}  // namespace nereid::request
