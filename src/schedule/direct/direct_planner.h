// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schedule/batch_planner.h"
#include "schedule/queue/request_queue.h"

namespace nereid::schedule {

/// The planner of the default scheduler: first in, first out, each request in an execution of its
/// own. It has no queue policy, but refuses requests that are cancelled or past their client's
/// deadline.
class DirectPlanner final : public BatchPlanner {
 public:
  base::Status Push(RequestPtr& request, uint64_t now_ns) override {
    return queue_.Push(request, now_ns);
  }
  Decision Next(uint64_t now_ns, InstanceId instance, std::vector<Refusal>* refused) override;
  uint64_t ReadyAt(uint64_t now_ns, InstanceId /*instance*/) override {
    return queue_.size() == 0 ? kNever : now_ns;
  }
  void Expire(uint64_t now_ns, std::vector<Refusal>* refused) override {
    queue_.Expire(now_ns, refused);
  }
  uint64_t NextExpiry() const override { return queue_.NextExpiry(); }
  void DropCancelled(uint64_t /*now_ns*/, std::vector<Refusal>* refused) override {
    queue_.DropCancelled(refused);
  }
  void DropAll(const base::Status& error, std::vector<Refusal>* refused) override {
    queue_.DropAll(error, refused);
  }
  RequestPtr DropFirst(uint64_t /*now_ns*/) override { return queue_.TakeFirst(); }
  void Drain(uint64_t /*now_ns*/) override {}  // no request waits for others
  size_t size() const override { return queue_.size(); }

 private:
  RequestQueue queue_;
};

}  // namespace nereid::schedule
