// SPDX-License-Identifier: Apache-2.0
#include "request/response_factory.h"

#include <new>
#include <utility>

#include "base/byte_budget.h"
#include "base/log.h"
#include "base/mutex.h"
#include "request/response_queue.h"

namespace nereid::request {
namespace {

/// The number of waiting responses of one request beyond which their senders must wait.
constexpr size_t kMaxWaiting = 16;

}  // namespace

/// The turns of the threads that send responses of a decoupled model. A thread that finds nobody
/// sending sets `sending`, which is the right to call the sink, and sends its response and then
/// those that arrived meanwhile; a thread that finds `sending` set adds its response to `waiting`.
/// So the sink gets one response at a time, in the order of the calls, and no lock is held during
/// its call.
struct ResponseFactory::Turns {
  base::Mutex mutex;
  base::ConditionVariable changed;  // `waiting` has become shorter
  ResponseQueue waiting NEREID_GUARDED_BY(mutex);
  bool sending NEREID_GUARDED_BY(mutex) = false;
};

ResponseFactory::ResponseFactory(std::shared_ptr<ResponseSink> sink,
                                 std::shared_ptr<const ModelIdentity> model, std::string id,
                                 std::shared_ptr<Cancellation> cancellation)
    : ResponseOrigin(std::move(sink), std::move(model), std::move(id)),
      cancellation_(std::move(cancellation)),
      turns_(model_->config != nullptr && model_->config->decoupled() ? std::make_unique<Turns>()
                                                                      : nullptr) {}

ResponseFactory::~ResponseFactory() {
  if (IsFinalSent()) return;
  // A response needs a shared_ptr to its factory, and none to this object can be made in its
  // destructor: a new factory answers instead. Where memory is short for it, the final flag alone
  // needs none; where it is short for the error, the destructor of the new factory tries again.
  std::shared_ptr<ResponseFactory> substitute;
  try {
    substitute = std::make_shared<ResponseFactory>(sink_, model_, id_, cancellation_);
  } catch (const std::bad_alloc&) {
    sink_->Send(nullptr, true);
    return;
  }
  try {
    substitute->SendError(
        base::Status::Internal("the backend of model '" + substitute->model().name +
                               "' released a request without sending its final response"));
  } catch (const std::bad_alloc&) {
  }
}

base::Result<std::unique_ptr<InferenceResponse>> ResponseFactory::NewResponse() {
  auto response = std::make_unique<InferenceResponse>(shared_from_this());
  NEREID_RETURN_IF_ERROR(sink_->ResponseStarted());
  return response;
}

void ResponseFactory::Send(std::unique_ptr<InferenceResponse> response, bool final) {
  if (response != nullptr && !response->error().ok()) Record(kErrorSent);
  if (turns_ != nullptr) return SendInTurn(std::move(response), final);
  // One sender, so no turns are needed; Record only detects a second final response.
  const bool already_final = final ? Record(kFinalSent) : IsFinalSent();
  if (already_final) return LogDropped();
  sink_->Send(std::move(response), final);
}

void ResponseFactory::LogDropped() const {
  LOG_ERROR_OF(.model = model_->name, .request_id = id_)
      << "model '" << model_->name << "' sent a response after the final one of request '" << id_
      << "'; it is dropped";
}

void ResponseFactory::SendInTurn(std::unique_ptr<InferenceResponse> response, bool final) {
  // The response may hold the last reference to this object, and is destroyed when it is sent.
  const std::shared_ptr<ResponseFactory> self = shared_from_this();
  Turns& turns = *turns_;
  ResponseQueue::Event event{std::move(response), final};
  base::MutexLock lock(turns.mutex);
  // An event loop must not wait: it queues beyond the limit.
  if (turns.sending && base::ThreadMayBlock()) {
    while (turns.waiting.size() >= kMaxWaiting) turns.changed.Wait(lock);
  }
  // Tested under the lock, so that no response is queued after the final one.
  if (IsFinalSent()) {
    lock.Unlock();
    return LogDropped();
  }
  if (final) Record(kFinalSent);
  if (turns.sending) {
    turns.waiting.Push(std::move(event));
    return;
  }
  turns.sending = true;
  while (true) {
    lock.Unlock();
    sink_->Send(std::move(event.response), event.final);
    lock.Lock();
    if (turns.waiting.empty()) break;
    event = turns.waiting.Pop();
    turns.changed.NotifyOne();
  }
  turns.sending = false;
}

void ResponseFactory::SendFinal() { Send(nullptr, true); }

void ResponseFactory::SendError(base::Status error) {
  auto response = std::make_unique<InferenceResponse>(shared_from_this());
  response->SetError(std::move(error));
  Send(std::move(response), true);
}

}  // namespace nereid::request
