// SPDX-License-Identifier: Apache-2.0
#include "request/response_factory.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <utility>

#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/log.h"

namespace nereid::request {
namespace {

/// The number of waiting responses of one request beyond which their senders must wait.
constexpr size_t kMostWaiting = 16;

}  // namespace

/// Responses that arrive while another thread is sending; that thread sends them afterwards.
/// `sending` is the right to call the sink, so no lock is held during the call.
struct ResponseFactory::Turns {
  struct Event {
    std::unique_ptr<InferenceResponse> response;
    bool final = false;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Event> waiting;  // guarded by mutex
  bool sending = false;       // guarded by mutex
};

ResponseFactory::ResponseFactory(std::shared_ptr<ResponseSink> sink,
                                 std::shared_ptr<const ModelIdentity> model, std::string id,
                                 std::shared_ptr<Cancellation> cancellation)
    : ResponseOrigin(std::move(sink), std::move(model), std::move(id)),
      cancellation_(std::move(cancellation)),
      turns_(model_->config != nullptr && model_->config->decoupled() ? std::make_unique<Turns>()
                                                                      : nullptr) {}

ResponseFactory::~ResponseFactory() {
  if (final_sent_.load(std::memory_order_acquire)) return;
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
  substitute->SetTrace(std::move(trace_));
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
  if (response != nullptr && !response->error().ok()) {
    failed_.store(true, std::memory_order_release);
  }
  if (turns_ != nullptr) return SendInTurn(std::move(response), final);
  // One sender, so no turns are needed; the exchange only detects a second final response.
  const bool already_final = final ? final_sent_.exchange(true, std::memory_order_acq_rel)
                                   : final_sent_.load(std::memory_order_acquire);
  if (already_final) return LogDropped();
  Deliver(std::move(response), final);
}

void ResponseFactory::Deliver(std::unique_ptr<InferenceResponse> response, bool final) {
  if (trace_ != nullptr) {
    if (response != nullptr && response->error().ok()) trace_->ReportOutputs(response->outputs());
    trace_->listener().OnResponse(*trace_, base::SteadyClock().NowNs());
  }
  sink_->Send(std::move(response), final);
}

void ResponseFactory::LogDropped() const {
  LOG_ERROR << "model '" << model_->name << "' sent a response after the final one of request '"
            << id_ << "'; it is dropped";
}

void ResponseFactory::SendInTurn(std::unique_ptr<InferenceResponse> response, bool final) {
  // The response may hold the last reference to this object, and is destroyed when it is sent.
  const std::shared_ptr<ResponseFactory> self = shared_from_this();
  Turns& turns = *turns_;
  Turns::Event event{std::move(response), final};
  std::unique_lock lock(turns.mutex);
  // An event loop must not wait: it queues beyond the limit.
  if (turns.sending && base::ThreadMayBlock()) {
    turns.changed.wait(lock, [&] { return turns.waiting.size() < kMostWaiting; });
  }
  // Tested under the lock, so that no response is queued after the final one.
  if (final_sent_.load(std::memory_order_acquire)) {
    lock.unlock();
    return LogDropped();
  }
  if (final) final_sent_.store(true, std::memory_order_release);
  if (turns.sending) {
    turns.waiting.push_back(std::move(event));
    return;
  }
  turns.sending = true;
  while (true) {
    lock.unlock();
    Deliver(std::move(event.response), event.final);
    lock.lock();
    if (turns.waiting.empty()) break;
    event = std::move(turns.waiting.front());
    turns.waiting.pop_front();
    turns.changed.notify_one();
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
