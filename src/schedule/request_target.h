// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/status.h"
#include "schedule/batch.h"

namespace nereid::schedule {

class ResponseOrder;

/// An object that takes the requests of one model. Thread-safe.
class RequestTarget {
 public:
  virtual ~RequestTarget() = default;

  /// Takes a normalized request. On failure the caller still owns the request, no response was
  /// sent, and the failure is not counted. May execute on the calling thread if the request allows
  /// that (InferenceRequest::may_run_inline).
  virtual base::Status Enqueue(RequestPtr& request) = 0;

  /// Returns the object that keeps the model's responses in order, or null if the model promises no
  /// order.
  virtual std::shared_ptr<ResponseOrder> response_order() const = 0;
};

}  // namespace nereid::schedule
