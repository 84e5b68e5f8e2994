// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "api/inference_service.h"
#include "base/blocking_workers.h"
#include "base/mutex.h"

namespace nereid::frontend::grpc {

/// Whether the server is ready, asked by many for the price of one: those who ask while a question
/// is being answered get its answer. So at most one thread waits for plug-ins on behalf of all
/// calls of Health/Watch. Thread-safe.
class SharedReadiness {
 public:
  /// Gets the answer, on a thread of the pool. The server that exits is not ready.
  using Tell = std::function<void(bool ready)>;

  /// `service` must outlive the object, and the object the threads that Ask() is called with.
  explicit SharedReadiness(api::InferenceService& service) : service_(service) {}

  /// Asks on one of the `workers`. Returns false if they take no more work: nobody is told.
  bool Ask(base::BlockingWorkers& workers, Tell tell);

 private:
  void Answer();

  api::InferenceService& service_;
  base::Mutex mutex_;
  std::vector<Tell> waiting_ NEREID_GUARDED_BY(mutex_);  // not empty: a question is being answered
};

}  // namespace nereid::frontend::grpc
