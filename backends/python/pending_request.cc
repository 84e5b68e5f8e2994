// SPDX-License-Identifier: Apache-2.0
#include "python/pending_request.h"

#include <utility>

#include "nereid/backend/log.h"
#include "python/responses.h"

namespace nereid::python {

using backend::Error;

namespace {

Error Copy(const Error& error) {
  return error.ok() ? Error()
                    : Error(TRITONSERVER_ErrorNew(TRITONSERVER_ErrorCode(error.get()),
                                                  TRITONSERVER_ErrorMessage(error.get())));
}

void Warn(const char* action, const Error& error) {
  if (!error.ok()) {
    NEREID_BACKEND_LOG(ERROR, std::string(action) + ": " + error.message());
  }
}

}  // namespace

Error PendingRequest::Open() {
  const base::MutexLock lock(mutex_);
  return OpenStream();
}

Error PendingRequest::OpenStream() { return stream_.Open(instance_, request_); }

bool PendingRequest::IsCancelled() {
  const base::MutexLock lock(mutex_);
  if (answered_) {
    return false;
  }
  if (stream_.open()) {
    return stream_.IsCancelled();
  }
  bool cancelled = false;
  return request_ != nullptr &&
         Error(TRITONBACKEND_RequestIsCancelled(request_, &cancelled)).ok() && cancelled;
}

Error PendingRequest::Send(const WireResult& result, bool final, SegmentUses* content) {
  const base::MutexLock lock(mutex_);
  if (answered_) {
    return Error::Internal("Unable to send response. Response sender has been closed.");
  }
  if (result.kind == ResultKind::kNone) {
    if (!decoupled_ && !sent_) {
      return Error::Internal(
          "Unable to send response. Non-decoupled model cannot send complete final before sending "
          "a response.");
    }
    stream_.Finish();
    answered_ = true;
    return {};
  }
  if (!decoupled_ && sent_) {
    return Error::Internal(
        "Unable to send response. Non-decoupled model cannot send more than one response.");
  }
  if (!stream_.open()) {
    if (request_ == nullptr) {
      return Error::Internal("Unable to send response. Response sender has been closed.");
    }
    NEREID_BACKEND_TRY(OpenStream());
  }
  Error refused;
  const Error sent = stream_.Send(backend::NowNs(), final, [&](TRITONBACKEND_Response* response) {
    if (result.kind == ResultKind::kError) {
      return ErrorOf(result);
    }
    refused = FillResponse(result, content, response);
    return Copy(refused);
  });
  sent_ = true;
  answered_ = final;
  return refused.ok() ? Copy(sent) : std::move(refused);
}

void PendingRequest::Fail(const Error& error) {
  const base::MutexLock lock(mutex_);
  if (std::exchange(answered_, true)) {
    return;
  }
  if (stream_.open()) {
    stream_.Fail(error);
    return;
  }
  if (response_ == nullptr && request_ != nullptr) {
    Warn("cannot create a response", Error(TRITONBACKEND_ResponseNew(&response_, request_)));
  }
  if (TRITONBACKEND_Response* response = std::exchange(response_, nullptr); response != nullptr) {
    Warn("cannot send a response",
         Error(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL,
                                          error.get())));
  }
}

void PendingRequest::Abandon() {
  {
    const base::MutexLock lock(mutex_);
    if (!decoupled_ && sent_ && !answered_) {
      stream_.Finish();
      answered_ = true;
    }
  }
  Fail(Error::Internal(decoupled_ ? "the Python model dropped the response sender of the request "
                                    "without sending the final flag"
                                  : "the Python model dropped the response sender of the request "
                                    "without sending a response"));
}

Error PendingRequest::Fill(const WireResult& result, SegmentUses* content) {
  return backend::Catching([&, response = response_, request = request_]() -> Error {
    if (states_.empty()) {
      return FillResponse(result, content, response);
    }
    WireResult rest;
    NEREID_BACKEND_TRY(WriteStates(result, content, states_, request, &rest));
    return FillResponse(rest, content, response);
  });
}

void PendingRequest::Prepare(const WireResult& result, SegmentUses* content) {
  const base::MutexLock lock(mutex_);
  reschedule_ = result.kind == ResultKind::kReschedule;
  later_ = result.kind == ResultKind::kLater;
  if (answered_ || decoupled_ || reschedule_) {
    if (!answered_ && result.kind == ResultKind::kError) {
      error_ = ErrorOf(result);
    }
    return;
  }
  if (later_) {
    // The response comes when the request is released already.
    error_ = stream_.open() ? Error() : OpenStream();
    return;
  }
  if (sent_) {
    return;  // a sender has sent the response without the final flag
  }
  error_ = Error(TRITONBACKEND_ResponseNew(&response_, request_));
  if (!error_.ok()) {
    return;
  }
  switch (result.kind) {
    case ResultKind::kResponse:
      error_ = Fill(result, content);
      break;
    case ResultKind::kError:
      error_ = ErrorOf(result);
      break;
    default:
      error_ = Error::Internal("the Python model returned no response for the request");
  }
}

void PendingRequest::PrepareFailure(const Error& error) {
  const base::MutexLock lock(mutex_);
  reschedule_ = false;
  later_ = false;
  if (answered_) {
    return;
  }
  error_ = Copy(error);
  if (!decoupled_ && !sent_ && response_ == nullptr) {
    Warn("cannot create a response", Error(TRITONBACKEND_ResponseNew(&response_, request_)));
  }
}

void PendingRequest::Report(bool success, uint64_t exec_start_ns, uint64_t compute_start_ns,
                            uint64_t compute_end_ns, uint64_t exec_end_ns) {
  const base::MutexLock lock(mutex_);
  Warn("cannot count a request", Error(TRITONBACKEND_ModelInstanceReportStatistics(
                                     instance_, request_, success && error_.ok(), exec_start_ns,
                                     compute_start_ns, compute_end_ns, exec_end_ns)));
}

bool PendingRequest::Deliver() {
  const base::MutexLock lock(mutex_);
  if (answered_ || reschedule_) {
    return false;
  }
  if (stream_.open()) {
    if (error_.ok() && (decoupled_ || later_)) {
      return true;
    }
    // A failure after the only response of a model that is not decoupled is in the log alone.
    if (error_.ok() || (sent_ && !decoupled_)) {
      stream_.Finish();
    } else {
      stream_.Fail(error_);
    }
  } else if (TRITONBACKEND_Response* response = std::exchange(response_, nullptr);
             response != nullptr) {
    Warn("cannot send a response",
         Error(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL,
                                          error_.get())));
  }
  answered_ = true;
  return false;
}

bool PendingRequest::TakeRescheduled() {
  if (!reschedule_ || answered_) {
    return false;
  }
  stream_.Detach();
  const Error refused(
      TRITONBACKEND_RequestRelease(request_, TRITONSERVER_REQUEST_RELEASE_RESCHEDULE));
  if (refused.ok()) {
    answered_ = true;
    return true;
  }
  // The server refuses for models that are no iterative sequences.
  const Error error(TRITONSERVER_ERROR_INTERNAL, "Failed to release request: " + refused.message());
  Warn("cannot execute a request again", error);
  TRITONBACKEND_Response* response = nullptr;
  if (Error(TRITONBACKEND_ResponseNew(&response, request_)).ok()) {
    Warn("cannot send a response",
         Error(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL,
                                          error.get())));
  }
  answered_ = true;
  return false;
}

void PendingRequest::Release() {
  const base::MutexLock lock(mutex_);
  if (!TakeRescheduled()) {
    Warn("cannot release a request",
         Error(TRITONBACKEND_RequestRelease(request_, TRITONSERVER_REQUEST_RELEASE_ALL)));
  }
  request_ = nullptr;
}

bool PendingRequest::IsLeft() {
  const base::MutexLock lock(mutex_);
  return request_ == nullptr && !answered_;
}

TRITONBACKEND_Request* PendingRequest::Withdraw() {
  const base::MutexLock lock(mutex_);
  answered_ = true;
  return std::exchange(request_, nullptr);
}

TRITONSERVER_InferenceTrace* PendingRequest::NewChildTrace() {
  const base::MutexLock lock(mutex_);
  TRITONSERVER_InferenceTrace* trace = nullptr;
  TRITONSERVER_InferenceTrace* child = nullptr;
  if (request_ != nullptr && Error(TRITONBACKEND_RequestTrace(request_, &trace)).ok() &&
      trace != nullptr) {
    Warn("cannot create a trace", Error(TRITONSERVER_InferenceTraceSpawnChildTrace(trace, &child)));
  }
  return child;
}

std::string PendingRequest::TraceContext() {
  const base::MutexLock lock(mutex_);
  TRITONSERVER_InferenceTrace* trace = nullptr;
  const char* context = nullptr;
  if (request_ == nullptr || !Error(TRITONBACKEND_RequestTrace(request_, &trace)).ok() ||
      trace == nullptr || !Error(TRITONSERVER_InferenceTraceContext(trace, &context)).ok() ||
      context == nullptr) {
    return "";
  }
  return context;
}

uint64_t PendingRequests::Add(std::shared_ptr<PendingRequest> request) {
  const base::MutexLock lock(mutex_);
  requests_[++last_] = std::move(request);
  return last_;
}

std::shared_ptr<PendingRequest> PendingRequests::Find(uint64_t number) {
  const base::MutexLock lock(mutex_);
  const auto found = requests_.find(number);
  return found == requests_.end() ? nullptr : found->second;
}

void PendingRequests::Remove(uint64_t number) {
  const base::MutexLock lock(mutex_);
  requests_.erase(number);
}

std::vector<std::shared_ptr<PendingRequest>> PendingRequests::TakeAll() {
  const base::MutexLock lock(mutex_);
  std::vector<std::shared_ptr<PendingRequest>> all;
  all.reserve(requests_.size());
  for (auto& [number, request] : requests_) {
    all.push_back(std::move(request));
  }
  requests_.clear();
  return all;
}

void PendingRequests::FailLeft(const Error& error) {
  std::vector<std::shared_ptr<PendingRequest>> left;
  {
    const base::MutexLock lock(mutex_);
    std::erase_if(requests_, [&left](const auto& entry) {
      const bool is_left = entry.second->IsLeft();
      if (is_left) {
        left.push_back(entry.second);
      }
      return is_left;
    });
  }
  for (const std::shared_ptr<PendingRequest>& request : left) {
    request->Fail(error);
  }
}

}  // namespace nereid::python
