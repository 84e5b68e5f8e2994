// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "nereid/backend/error.h"
#include "nereid/backend/log.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {

/// Returns nanoseconds of the steady clock, the unit of the statistics.
inline uint64_t NowNs() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

/// A request of a batch and its response.
struct BatchMember {
  /// Null after the request was answered before the others because it had failed.
  TRITONBACKEND_Request* request = nullptr;
  /// Null only if the server could not create a response; `error` is set then.
  TRITONBACKEND_Response* response = nullptr;
  /// The number of inferences in this request: the size of its batch dimension, or 1. Set by the
  /// backend.
  uint64_t batch_size = 1;
  Error error;
  /// Whether the request is to be executed again instead of being answered.
  bool reschedule = false;
};

/// The requests of one TRITONBACKEND_ModelInstanceExecute call, after the backend has taken
/// ownership of them. When the Batch is destroyed, each request has been counted, then answered
/// with exactly one final response (its outputs, or the error given to Fail), and then released
/// exactly once. This holds however the scope is left, also by an exception. Requests are counted
/// first, so that a client that has its response finds it in the statistics. Used by one thread.
class Batch {
 public:
  /// `members` is scratch memory that must outlive the Batch (the instance owns it).
  Batch(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests, uint32_t count,
        std::vector<BatchMember>* members)
      : instance_(instance), members_(*members), exec_start_ns_(NowNs()) {
    members_.clear();
    members_.resize(count);
    for (uint32_t i = 0; i < count; ++i) {
      members_[i].request = requests[i];
      members_[i].error = Error(TRITONBACKEND_ResponseNew(&members_[i].response, requests[i]));
    }
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch() { Complete(); }

  size_t size() const { return members_.size(); }
  BatchMember& operator[](size_t i) { return members_[i]; }
  bool failed(size_t i) const { return !members_[i].error.ok(); }

  /// Makes `error` the answer of request i. An earlier error of the request is kept.
  void Fail(size_t i, Error error) {
    if (members_[i].error.ok()) {
      members_[i].error = std::move(error);
    }
  }

  /// Returns request i to the server's queue instead of answering it (iterative sequences). If the
  /// server refuses, its error is the answer.
  void Reschedule(size_t i) { members_[i].reschedule = true; }

  /// Fails every request that has not failed yet with a copy of `error`.
  void FailAll(const Error& error) {
    for (BatchMember& member : members_) {
      if (member.error.ok()) {
        member.error = Error(TRITONSERVER_ErrorNew(TRITONSERVER_ErrorCode(error.get()),
                                                   TRITONSERVER_ErrorMessage(error.get())));
      }
    }
  }

  /// Fails the requests whose clients have cancelled, and answers them at once. Returns false if no
  /// request is left that has not failed.
  bool FailCancelled() {
    bool left = false;
    for (BatchMember& member : members_) {
      if (!member.error.ok()) {
        continue;
      }
      bool cancelled = false;
      const Error asked(TRITONBACKEND_RequestIsCancelled(member.request, &cancelled));
      left = left || !cancelled;
      if (cancelled) {
        member.error = Error(TRITONSERVER_ERROR_CANCELLED, "the request was cancelled");
        const uint64_t now = NowNs();
        Count(member, compute_start_ns_ == 0 ? now : compute_start_ns_, now, now);
        Answer(&member);
      }
    }
    return left;
  }

  /// Discards the outputs in response i and creates a new response.
  Error RenewResponse(size_t i) {
    BatchMember& member = members_[i];
    NEREID_BACKEND_TRY(TRITONBACKEND_ResponseDelete(member.response));
    member.response = nullptr;
    return Error(TRITONBACKEND_ResponseNew(&member.response, member.request));
  }

  /// Begins one of several executions: of a part of the batch, or of a part once more after an
  /// execution has failed. Each one counts in the batch statistics. A backend that executes the
  /// batch once need not call this.
  void ExecutionStarts(uint64_t batch_size) {
    const uint64_t now = NowNs();
    const bool is_first = compute_start_ns_ == 0;
    CountExecution(now);
    execution_ = {batch_size, is_first ? exec_start_ns_ : now, 0, 0};
  }

  /// Records the time at which the inputs are ready. Only the first call of an execution has an
  /// effect. Without ExecutionStarts, the requests that have not failed at this time form the
  /// execution.
  void ComputeStarts() {
    if (execution_.compute_start_ns != 0) {
      return;
    }
    if (execution_.batch_size == 0) {
      execution_.start_ns = exec_start_ns_;
      for (const BatchMember& member : members_) {
        execution_.batch_size += member.error.ok() ? member.batch_size : 0;
      }
    }
    execution_.compute_start_ns = NowNs();
    if (compute_start_ns_ == 0) {
      compute_start_ns_ = execution_.compute_start_ns;
    }
  }

  /// Records the time at which the framework is done. The last call of an execution counts.
  void ComputeEnds() { execution_.compute_end_ns = compute_end_ns_ = NowNs(); }

 private:
  /// An execution in the batch statistics.
  struct Execution {
    uint64_t batch_size = 0;
    uint64_t start_ns = 0;
    uint64_t compute_start_ns = 0;  // 0: it has not begun to compute, and does not count
    uint64_t compute_end_ns = 0;
  };

  void CountExecution(uint64_t end_ns) noexcept {
    const Execution ended = std::exchange(execution_, Execution());
    if (ended.batch_size == 0 || ended.compute_start_ns == 0) {
      return;
    }
    Drop("count an execution",
         TRITONBACKEND_ModelInstanceReportBatchStatistics(
             instance_, ended.batch_size, ended.start_ns, ended.compute_start_ns,
             std::max(ended.compute_start_ns, ended.compute_end_ns), end_ns));
  }

  void Complete() noexcept {
    const uint64_t exec_end_ns = NowNs();
    if (compute_end_ns_ == 0) {
      compute_end_ns_ = compute_start_ns_ == 0 ? exec_end_ns : compute_start_ns_;
    }
    if (compute_start_ns_ == 0) {
      compute_start_ns_ = compute_end_ns_;
    }
    CountExecution(exec_end_ns);
    for (const BatchMember& member : members_) {
      Count(member, compute_start_ns_, compute_end_ns_, exec_end_ns);
    }
    for (BatchMember& member : members_) {
      Answer(&member);
    }
    members_.clear();
  }

  void Count(const BatchMember& member, uint64_t compute_start_ns, uint64_t compute_end_ns,
             uint64_t exec_end_ns) noexcept {
    if (member.request != nullptr) {
      Drop("count a request", TRITONBACKEND_ModelInstanceReportStatistics(
                                  instance_, member.request, member.error.ok(), exec_start_ns_,
                                  compute_start_ns, compute_end_ns, exec_end_ns));
    }
  }

  /// Sends the response and releases the request. Does nothing if this has been done.
  static void Answer(BatchMember* member) noexcept {
    if (member->request == nullptr || PutBack(member)) {
      return;
    }
    if (member->response != nullptr) {
      Drop("send a response",
           TRITONBACKEND_ResponseSend(member->response, TRITONSERVER_RESPONSE_COMPLETE_FINAL,
                                      member->error.get()));
    } else {
      Drop("answer a request", member->error.Release());
    }
    Drop("release a request",
         TRITONBACKEND_RequestRelease(member->request, TRITONSERVER_REQUEST_RELEASE_ALL));
    member->request = nullptr;
    member->response = nullptr;
  }

  /// Reschedules the request if the backend has asked for that. Returns whether it was rescheduled.
  static bool PutBack(BatchMember* member) noexcept {
    if (!member->reschedule || !member->error.ok() || member->response == nullptr) {
      return false;
    }
    // The server creates a new response at the next execution, so this one must be deleted first.
    Drop("delete a response", TRITONBACKEND_ResponseDelete(member->response));
    member->response = nullptr;
    member->error = Error(
        TRITONBACKEND_RequestRelease(member->request, TRITONSERVER_REQUEST_RELEASE_RESCHEDULE));
    if (member->error.ok()) {
      member->request = nullptr;
      return true;
    }
    Drop("make a response", TRITONBACKEND_ResponseNew(&member->response, member->request));
    return false;
  }

  static void Drop(const char* action, TRITONSERVER_Error* failure) noexcept {
    if (Error error(failure); !error.ok()) {
      Error logged = Catching([&]() -> Error {
        NEREID_BACKEND_LOG(ERROR, std::string("cannot ") + action + ": " + error.message());
        return {};
      });
    }
  }

  TRITONBACKEND_ModelInstance* instance_;
  std::vector<BatchMember>& members_;
  Execution execution_;  // the present one
  // Of the whole batch, which is what the statistics of a request say.
  uint64_t exec_start_ns_;
  uint64_t compute_start_ns_ = 0;
  uint64_t compute_end_ns_ = 0;
};

}  // namespace nereid::backend
