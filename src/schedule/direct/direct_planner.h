// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "schedule/batch_planner.h"

namespace nereid::schedule {

/// The default scheduler: first in, first out, each request an execution of its own.
class DirectPlanner final : public BatchPlanner {
 public:
  void Push(RequestPtr request, uint64_t /*now_ns*/) override {
    queue_.push_back(std::move(request));
  }

  Decision Next(uint64_t /*now_ns*/) override {
    if (queue_.empty()) return {};
    Decision decision;
    Batch& batch = decision.batch.emplace();
    batch.requests.push_back(std::move(queue_.front()));
    queue_.pop_front();
    return decision;
  }

  size_t size() const override { return queue_.size(); }

 private:
  std::deque<RequestPtr> queue_;
};

}  // namespace nereid::schedule
