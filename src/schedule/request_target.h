// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/status.h"
#include "schedule/batch.h"

namespace nereid::schedule {

class ResponseOrder;

/// Whatever takes the requests of one model. Thread-safe.
class RequestTarget {
 public:
  virtual ~RequestTarget() = default;

  /// Takes a normalised request. On failure the caller still owns it, nothing was sent, and the
  /// failure is not counted. May run the request on the calling thread if it allows that.
  virtual base::Status Enqueue(RequestPtr& request) = 0;

  /// Keeps the responses of the model in order; null where order is not promised.
  virtual std::shared_ptr<ResponseOrder> response_order() const = 0;
};

}  // namespace nereid::schedule
