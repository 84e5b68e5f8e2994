// SPDX-License-Identifier: Apache-2.0
#include "python/extension/call.h"

#include <new>

#include "python/extension/graveyard.h"
#include "python/extension/waker.h"

namespace nereid::python {
namespace {

uint64_t SizeOf(const Answer& answer) {
  uint64_t size = 0;
  if (answer.response != nullptr) {
    for (const ReceivedOutput& output : answer.response->outputs) size += output.byte_size;
  }
  return size;
}

std::shared_ptr<Received> TooMany(size_t count, uint64_t bytes) {
  auto error = std::make_shared<Received>();
  error->error_code = TRITONSERVER_ERROR_UNAVAILABLE;
  error->error_message = "the request was cancelled because " + std::to_string(count) +
                         " responses with " + std::to_string(bytes) +
                         " bytes were not read: read the responses of a stream as they come";
  return error;
}

uint64_t NextId() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Call::Call(std::shared_ptr<Engine> engine, TRITONSERVER_InferenceRequest* request)
    : engine_(std::move(engine)), request_(request), id_(NextId()) {}

Call::~Call() {
  if (engine_->IsOurs()) TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceRequestDelete(request_));
  Bury(std::move(owners_));
}

TRITONSERVER_Error* Call::Submit(uint32_t trace_level) {
  TRITONSERVER_Error* error =
      TRITONSERVER_InferenceRequestSetReleaseCallback(request_, Released, this);
  if (error != nullptr) return error;
  error = TRITONSERVER_InferenceRequestSetResponseCallback(request_, OutputAllocator(), nullptr,
                                                           Answered, this);
  if (error != nullptr) return error;
  TRITONSERVER_InferenceTrace* trace = nullptr;
  if (trace_level != 0) {
    // The trace may end after the call, so it has a reference of its own.
    auto* const reference = new std::shared_ptr<Call>(shared_from_this());
    error = TRITONSERVER_InferenceTraceNew(
        &trace, static_cast<TRITONSERVER_InferenceTraceLevel>(trace_level), 0, Traced,
        TraceReleased, reference);
    if (error != nullptr) {
      delete reference;
      return error;
    }
  }
  {
    const base::MutexLock lock(mutex_);
    self_ = shared_from_this();
  }
  error = TRITONSERVER_ServerInferAsync(engine_->server(), request_, trace);
  if (error != nullptr) {
    const base::MutexLock lock(mutex_);
    self_.reset();  // the caller has another reference
  }
  return error;
}

void Call::Answered(TRITONSERVER_InferenceResponse* response, uint32_t flags, void* self) {
  const EngineThread here;
  Call& call = *static_cast<Call*>(self);
  Answer answer;
  answer.final = (flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0;
  if (response != nullptr) {
    try {
      answer.response = TakeContent(response);
    } catch (const std::bad_alloc&) {
      answer.lost = true;
    }
  }
  call.Update(&answer);
}

void Call::Released(TRITONSERVER_InferenceRequest*, uint32_t flags, void* self) {
  const EngineThread here;
  // A request that is rescheduled stays with the engine.
  if ((flags & TRITONSERVER_REQUEST_RELEASE_ALL) == 0) return;
  static_cast<Call*>(self)->Update(nullptr);
}

bool Call::IsFull(const Answer& answer) const {
  return !answers_.empty() && answer.response != nullptr &&
         (answers_.size() >= kMaxWaitingAnswers ||
          waiting_bytes_ + SizeOf(answer) > kMaxWaitingBytes);
}

bool Call::Push(Answer* answer) {
  bool cancel = false;
  if (overflowed_) {
    answer->response.reset();
    if (!answer->final) return false;
  } else if (IsFull(*answer)) {
    overflowed_ = true;
    cancel = !answer->final;
    answer->response = TooMany(answers_.size(), waiting_bytes_);
  }
  waiting_bytes_ += SizeOf(*answer);
  answers_.push_back(std::move(*answer));
  return cancel;
}

void Call::Update(Answer* answer) {
  // From the change on, the other callback may end the call, so the reference is taken with it.
  std::shared_ptr<Call> self;
  bool ended = false;
  bool cancel = false;
  {
    const base::MutexLock lock(mutex_);
    if (answer == nullptr) {
      released_ = true;
    } else {
      final_ = final_ || answer->final;
      try {
        cancel = Push(answer);
      } catch (const std::bad_alloc&) {
        lost_ = true;
      }
    }
    self = self_;
    ended = final_ && released_;
    if (ended) self_.reset();
    changed_.NotifyAll();
  }
  if (answer != nullptr && waker_ != nullptr) {
    try {
      waker_->Tell(self);
    } catch (const std::bad_alloc&) {
      // The next response tells. Without one, the awaiting task waits until it is cancelled.
    }
  }
  if (cancel) TRITONSERVER_ErrorDelete(Cancel());
  self.reset();
  if (ended) RequestBurial();
}

void Call::Traced(TRITONSERVER_InferenceTrace* trace, TRITONSERVER_InferenceTraceActivity activity,
                  uint64_t time_ns, void* self) {
  Call& call = **static_cast<std::shared_ptr<Call>*>(self);
  TraceEvent event{0, 0, {}, TRITONSERVER_InferenceTraceActivityString(activity), time_ns};
  const char* model = nullptr;
  TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceTraceId(trace, &event.trace_id));
  TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceTraceParentId(trace, &event.parent_id));
  TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceTraceModelName(trace, &model));
  if (model != nullptr) event.model = model;
  const base::MutexLock lock(call.mutex_);
  call.trace_events_.push_back(std::move(event));
}

void Call::TraceReleased(TRITONSERVER_InferenceTrace* trace, void* self) {
  const EngineThread here;
  // Children are released before their parent, which has no parent of its own.
  uint64_t parent = 0;
  TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceTraceParentId(trace, &parent));
  TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceTraceDelete(trace));
  if (parent != 0) return;
  delete static_cast<std::shared_ptr<Call>*>(self);
  RequestBurial();
}

bool Call::WaitForAnswer(std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  base::MutexLock lock(mutex_);
  while (answers_.empty() && !lost_) {
    if (!changed_.WaitUntil(lock, deadline)) return !answers_.empty() || lost_;
  }
  return true;
}

bool Call::WaitForEnd(std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  base::MutexLock lock(mutex_);
  while (!final_ || !released_) {
    if (!changed_.WaitUntil(lock, deadline)) return final_ && released_;
  }
  return true;
}

bool Call::Take(Answer* answer) {
  const base::MutexLock lock(mutex_);
  if (answers_.empty()) {
    if (!lost_) return false;
    lost_ = false;
    *answer = {nullptr, final_, true};
    return true;
  }
  *answer = std::move(answers_.front());
  answers_.pop_front();
  waiting_bytes_ -= SizeOf(*answer);
  return true;
}

std::vector<TraceEvent> Call::TraceEvents() {
  const base::MutexLock lock(mutex_);
  return trace_events_;
}

TRITONSERVER_Error* Call::Cancel() { return TRITONSERVER_InferenceRequestCancel(request_); }

}  // namespace nereid::python
