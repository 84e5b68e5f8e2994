// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "nereid/backend/error.h"
#include "python/messages.h"
#include "python/pending_request.h"
#include "python/segments.h"
#include "triton/core/tritonbackend.h"

namespace nereid::python {

/// The requests of one TRITONBACKEND_ModelInstanceExecute call between their arrival and the end of
/// the model's execute(). Used by one thread at a time.
class ExecutingBatch {
 public:
  /// What a batch needs to know about its model.
  struct ModelTraits {
    bool decoupled = false;
    bool batching = false;
    StateNames states;
  };

  /// `requests` is the table of the worker that gets them; it outlives the batch, as `instance` and
  /// `traits` do.
  ExecutingBatch(TRITONBACKEND_ModelInstance* instance, PendingRequests* requests,
                 const ModelTraits* traits);

  ExecutingBatch(const ExecutingBatch&) = delete;
  ExecutingBatch& operator=(const ExecutingBatch&) = delete;
  /// Answers the requests with an error if neither Complete nor Fail was called.
  ~ExecutingBatch();

  /// Takes a request and returns its number for the worker; 0 if the request cannot be executed and
  /// was answered with an error. If it throws, it has not taken the request.
  uint64_t Add(TRITONBACKEND_Request* request);

  /// Answers a request that was just added with an error; it does not reach the worker.
  void Refuse(const backend::Error& error);

  bool empty() const { return requests_.empty(); }

  /// When the batch arrived or began, in nanoseconds of the steady clock.
  uint64_t start_ns() const { return exec_start_ns_; }
  /// Records when the worker could begin: it had answered the batches before this one.
  void Begin(uint64_t now_ns) { exec_start_ns_ = std::max(exec_start_ns_, now_ns); }

  /// Records that the worker has the inputs.
  void ComputeStarts();

  /// Takes the results of the worker, in the order in which the requests were added, counts the
  /// requests, answers them and releases them.
  void Complete(const WireResults& results, Segments* segments);

  /// Gives the requests back, which the worker has not begun; the batch is empty afterwards.
  std::vector<TRITONBACKEND_Request*> Withdraw();

  /// Answers all requests with `error` instead.
  void Fail(const backend::Error& error);

 private:
  struct Member {
    uint64_t number = 0;
    std::shared_ptr<PendingRequest> pending;
    uint64_t batch_size = 1;
  };

  uint64_t SizeOf(TRITONBACKEND_Request* request) const;
  void End(bool success);
  void EndMember(const Member& member);

  TRITONBACKEND_ModelInstance* const instance_;
  PendingRequests& table_;
  const ModelTraits& traits_;
  std::vector<Member> requests_;
  uint64_t exec_start_ns_;
  uint64_t compute_start_ns_ = 0;
  uint64_t compute_end_ns_ = 0;
};

}  // namespace nereid::python
