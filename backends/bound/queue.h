// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "bound/bound_api.h"

/// The definition of the opaque C type. Lives on the stack of the instance that executes it.
struct NEREID_BoundBatch {
  TRITONBACKEND_Request* const* requests = nullptr;
  uint32_t count = 0;
  std::vector<bool> succeeded;  // written before `done`, read after it
  std::chrono::steady_clock::time_point taken;

  nereid::base::Mutex mutex;
  nereid::base::ConditionVariable changed;
  bool done NEREID_GUARDED_BY(mutex) = false;
  bool refused NEREID_GUARDED_BY(mutex) = false;
};

namespace nereid::bound {

/// The batches of a model that wait for the program. Each instance waits for its batch, so there
/// are at most as many as instances. Used by the instances and by threads of the program.
class Queue {
 public:
  /// Adds a batch and waits until it is finished, or refused because the queue is closed. Returns
  /// whether it was executed.
  bool Execute(NEREID_BoundBatch* batch);
  NEREID_BoundBatch* Take(std::chrono::milliseconds timeout);
  void Close();

 private:
  base::Mutex mutex_;
  base::ConditionVariable changed_;
  std::deque<NEREID_BoundBatch*> waiting_ NEREID_GUARDED_BY(mutex_);
  bool closed_ NEREID_GUARDED_BY(mutex_) = false;
};

/// Returns the queue of a token, or null.
std::shared_ptr<Queue> FindQueue(const std::string& token);

}  // namespace nereid::bound
