// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "schedule/batch_planner.h"
#include "schedule/response_order.h"
#include "schedule/scheduler_observer.h"

namespace nereid::schedule {

/// Answers the requests that a planner refuses. Thread-safe. No lock may be held by its callers,
/// because an answer runs the code of front ends.
class RefusalSender {
 public:
  /// `order` may be null: the model's responses are not ordered.
  RefusalSender(SchedulerObserver& observer, std::shared_ptr<ResponseOrder> order)
      : observer_(observer), order_(std::move(order)) {}

  /// Sends the error of one refused request and releases the request. Does not throw.
  void Send(Refusal refusal) const noexcept;
  void SendAll(std::vector<Refusal> refused) const noexcept {
    for (Refusal& refusal : refused) Send(std::move(refusal));
  }

 private:
  SchedulerObserver& observer_;
  const std::shared_ptr<ResponseOrder> order_;
};

}  // namespace nereid::schedule
