// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "nereid/backend/error.h"
#include "nereid/backend/response_stream.h"
#include "python/messages.h"
#include "python/responses.h"
#include "python/segment_uses.h"
#include "triton/core/tritonbackend.h"

namespace nereid::python {

/// A request that a worker has, with what the model has done about it. However the worker behaves,
/// the request gets exactly one final response. Thread-safe: the thread that executes the batch and
/// the one that handles the model's calls meet here.
///
/// The owner of the batch calls Prepare, Report, Deliver and Release once each, in this order.
class PendingRequest {
 public:
  /// `instance` outlives the object.
  /// `states` outlives it too.
  PendingRequest(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request,
                 bool decoupled, const StateNames* states)
      : instance_(instance), decoupled_(decoupled), states_(*states), request_(request) {}
  PendingRequest(const PendingRequest&) = delete;
  PendingRequest& operator=(const PendingRequest&) = delete;

  /// Opens the stream of a decoupled model's responses. Called before the worker gets the request.
  backend::Error Open() NEREID_EXCLUDES(mutex_);

  /// Whether the client has cancelled the request. False after the final response.
  bool IsCancelled() NEREID_EXCLUDES(mutex_);

  /// Sends a response, or with kNone the final flag alone, on behalf of a response sender.
  backend::Error Send(const WireResult& result, bool final, SegmentUses* content)
      NEREID_EXCLUDES(mutex_);

  /// Makes `error` the final response unless that was sent.
  void Fail(const backend::Error& error) NEREID_EXCLUDES(mutex_);

  /// Ends the request, whose response sender is gone: with an error if a response is missing.
  void Abandon() NEREID_EXCLUDES(mutex_);

  /// Takes what the model says at the end of the execution.
  void Prepare(const WireResult& result, SegmentUses* content) NEREID_EXCLUDES(mutex_);
  /// Does so if the execution as a whole has failed.
  void PrepareFailure(const backend::Error& error) NEREID_EXCLUDES(mutex_);

  /// Reports the statistics of the request, which has failed if its response is an error.
  void Report(bool success, uint64_t exec_start_ns, uint64_t compute_start_ns,
              uint64_t compute_end_ns, uint64_t exec_end_ns) NEREID_EXCLUDES(mutex_);

  /// Sends the prepared response. Returns whether the request is left to its response sender.
  bool Deliver() NEREID_EXCLUDES(mutex_);

  /// Returns the request to the server, or to its queue if the model asks for that.
  void Release() NEREID_EXCLUDES(mutex_);

  /// Whether the request was released and its response sender has not ended it.
  bool IsLeft() NEREID_EXCLUDES(mutex_);

  /// Returns the request, which the worker has not begun; the object does nothing more.
  TRITONBACKEND_Request* Withdraw() NEREID_EXCLUDES(mutex_);

  /// Creates a child of the request's trace; null if there is none.
  TRITONSERVER_InferenceTrace* NewChildTrace() NEREID_EXCLUDES(mutex_);
  /// Returns the context of the request's trace; empty if there is none.
  std::string TraceContext() NEREID_EXCLUDES(mutex_);

 private:
  backend::Error OpenStream() NEREID_REQUIRES(mutex_);
  backend::Error Fill(const WireResult& result, SegmentUses* content) NEREID_REQUIRES(mutex_);
  bool TakeRescheduled() NEREID_REQUIRES(mutex_);

  TRITONBACKEND_ModelInstance* const instance_;
  const bool decoupled_;
  const StateNames& states_;
  base::Mutex mutex_;
  /// Null after the release.
  TRITONBACKEND_Request* request_ NEREID_GUARDED_BY(mutex_);
  /// The responses of a decoupled model, and those of senders of other models.
  backend::ResponseStream stream_ NEREID_GUARDED_BY(mutex_);
  /// The response of a model that is not decoupled, between Prepare and Deliver.
  TRITONBACKEND_Response* response_ NEREID_GUARDED_BY(mutex_) = nullptr;
  backend::Error error_ NEREID_GUARDED_BY(mutex_);
  bool sent_ NEREID_GUARDED_BY(mutex_) = false;
  /// Whether the final response was sent.
  bool answered_ NEREID_GUARDED_BY(mutex_) = false;
  bool reschedule_ NEREID_GUARDED_BY(mutex_) = false;
  /// Whether the sender of a model that is not decoupled answers after the execution.
  bool later_ NEREID_GUARDED_BY(mutex_) = false;
};

/// The requests that one worker has, by the numbers under which it knows them. Thread-safe.
class PendingRequests {
 public:
  /// Adds a request and returns its number, which is not 0.
  uint64_t Add(std::shared_ptr<PendingRequest> request) NEREID_EXCLUDES(mutex_);
  /// Returns a request; null if it has ended, or never was.
  std::shared_ptr<PendingRequest> Find(uint64_t number) NEREID_EXCLUDES(mutex_);
  void Remove(uint64_t number) NEREID_EXCLUDES(mutex_);
  /// Removes and returns all requests.
  std::vector<std::shared_ptr<PendingRequest>> TakeAll() NEREID_EXCLUDES(mutex_);
  /// Ends the requests that are left to their senders, which have ended with their process.
  void FailLeft(const backend::Error& error) NEREID_EXCLUDES(mutex_);

 private:
  base::Mutex mutex_;
  uint64_t last_ NEREID_GUARDED_BY(mutex_) = 0;
  std::unordered_map<uint64_t, std::shared_ptr<PendingRequest>> requests_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::python
