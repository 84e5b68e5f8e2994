// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "nereid/backend/error.h"
#include "python/inner_call.h"
#include "python/messages.h"
#include "python/worker.h"
#include "triton/core/tritonserver.h"

namespace nereid::python {

/// The requests that the model of one worker has sent to other models and that have not ended.
/// Nothing waits for a response: the callbacks of the server pass responses to the worker. Outputs
/// above kMaxInlineTensor are written by the called model into memory that the worker shares.
/// Thread-safe.
class InnerCalls {
 public:
  /// `server` outlives the object.
  InnerCalls(TRITONSERVER_Server* server, std::shared_ptr<Worker> worker)
      : server_(server), worker_(std::move(worker)) {}
  InnerCalls(const InnerCalls&) = delete;
  InnerCalls& operator=(const InnerCalls&) = delete;
  /// No call may be left.
  ~InnerCalls();

  /// Sends the request. The worker gets every failure as a response.
  void Start(uint64_t id, const WireInfer& infer) NEREID_EXCLUDES(mutex_);

  /// Asks the server to cancel a call, if it has not ended.
  void Cancel(uint64_t id) NEREID_EXCLUDES(mutex_);
  /// Cancels a call and drops its further responses.
  void Close(uint64_t id) NEREID_EXCLUDES(mutex_);
  void CloseAll() NEREID_EXCLUDES(mutex_);

  /// Returns whether the server has ended every call.
  bool IsEmpty() NEREID_EXCLUDES(mutex_);
  /// Waits until then.
  void WaitUntilNone() NEREID_EXCLUDES(mutex_);

 private:
  friend struct InnerCallbacks;

  backend::Error Submit(uint64_t id, const WireInfer& infer);
  backend::Error Fill(const WireInfer& infer, InnerCall* call);
  backend::Error AddInputs(const WireInfer& infer, InnerCall* call);
  static backend::Error AddContent(const WireTensor& tensor, const std::string& name,
                                   SegmentUses* given, InnerCall* call);
  static backend::Error AddGpuContent(const WireTensor& tensor, const std::string& name,
                                      SegmentUses* given, InnerCall* call);
  backend::Error PrepareAllocator() NEREID_EXCLUDES(mutex_);
  std::shared_ptr<InnerCall> Find(uint64_t id) NEREID_EXCLUDES(mutex_);
  void Remove(const InnerCall& call) NEREID_EXCLUDES(mutex_);
  void CountDown() NEREID_EXCLUDES(mutex_);

  TRITONSERVER_Server* const server_;
  const std::shared_ptr<Worker> worker_;
  base::Mutex mutex_;
  base::ConditionVariable changed_;
  TRITONSERVER_ResponseAllocator* allocator_ NEREID_GUARDED_BY(mutex_) = nullptr;
  std::unordered_map<uint64_t, std::shared_ptr<InnerCall>> calls_ NEREID_GUARDED_BY(mutex_);
  /// Callbacks of the server that are still to come: two for each call.
  uint64_t callbacks_ NEREID_GUARDED_BY(mutex_) = 0;
};

}  // namespace nereid::python
