// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "bound/bound_api.h"
#include "python/extension/python.h"

namespace nereid::python {

/// A batch that was taken, and the responses to its requests. Used by one thread at a time.
class BoundBatch {
 public:
  /// Throws std::bad_alloc; the batch is then not finished.
  BoundBatch(const NEREID_BoundFunctions* functions, NEREID_BoundBatch* batch);
  /// Finishes the batch.
  ~BoundBatch();
  BoundBatch(const BoundBatch&) = delete;
  BoundBatch& operator=(const BoundBatch&) = delete;

  uint32_t count() const { return static_cast<uint32_t>(members_.size()); }
  /// Returns a request, or null after Finish().
  TRITONBACKEND_Request* request(uint32_t index) const { return members_[index].request; }

  /// Makes a response to a request that has no final one yet.
  TRITONSERVER_Error* NewResponse(uint32_t index, TRITONBACKEND_Response** response);
  /// Sends a response. `error` stays with the caller; with an error the request counts as failed.
  TRITONSERVER_Error* Send(uint32_t index, TRITONBACKEND_Response* response, bool final,
                           TRITONSERVER_Error* error);
  /// Sends the sign that no more responses come, if that has not been sent.
  TRITONSERVER_Error* SendFinal(uint32_t index);
  bool IsCancelled(uint32_t index) const;
  /// Ends the execution. Requests without a final response get one. A second call does nothing.
  void Finish();

 private:
  struct Member {
    TRITONBACKEND_Request* request = nullptr;
    TRITONBACKEND_ResponseFactory* factory = nullptr;
    bool final = false;
    bool failed = false;
  };
  TRITONSERVER_Error* Check(uint32_t index) const;

  const NEREID_BoundFunctions* const functions_;
  NEREID_BoundBatch* batch_;  // null: finished
  std::vector<Member> members_;
  const std::unique_ptr<bool[]> succeeded_;  // written when the batch is finished
};

/// Returns the requests as a list of tuples (request id, parameters, names of wanted outputs,
/// inputs). The inputs are a list of (name, data type, shape, address, byte size, owner) with
/// copies of the bytes: Python code may keep them longer than the batch.
PyObject* RequestTuples(const BoundBatch& batch);

}  // namespace nereid::python
