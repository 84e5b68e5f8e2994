// SPDX-License-Identifier: Apache-2.0
#include "request/response_queue.h"

#include <utility>

namespace nereid::request {

// One after the other: a chain that destroys itself would need the stack for its length.
ResponseQueue::~ResponseQueue() {
  while (!empty()) Pop();
}

void ResponseQueue::Push(Event event) noexcept {
  if (event.final) final_ = event.response == nullptr ? Final::kAlone : Final::kWithLast;
  if (event.response == nullptr) return;
  InferenceResponse* const added = event.response.get();
  (first_ == nullptr ? first_ : last_->next_) = std::move(event.response);
  last_ = added;
  ++size_;
}

ResponseQueue::Event ResponseQueue::Pop() noexcept {
  if (first_ == nullptr) {
    final_ = Final::kNone;
    return {nullptr, true};
  }
  Event event{std::move(first_), false};
  first_ = std::move(event.response->next_);
  --size_;
  if (first_ == nullptr && final_ == Final::kWithLast) {
    event.final = true;
    final_ = Final::kNone;
  }
  return event;
}

}  // namespace nereid::request
