// SPDX-License-Identifier: Apache-2.0
#include "handover/waiting_requests.h"

#include <utility>

namespace nereid::handover {

using base::MutexLock;

WaitingRequests::Entry WaitingRequests::Add(const SequenceKey& key, RequestPtr& request, int origin,
                                            bool may_begin) {
  MutexLock lock(mutex_);
  auto found = waiting_.find(key);
  const bool is_first = found == waiting_.end();
  if (is_first && !may_begin) return Entry::kAlone;
  if (requests_ >= kMaxRequests || (is_first && waiting_.size() >= kMaxSequences)) {
    return Entry::kFull;
  }
  std::vector<Waiting> first;
  if (request != nullptr) (is_first ? first : found->second).push_back({nullptr, origin});
  if (is_first) found = waiting_.emplace(key, std::move(first)).first;
  // Nothing below allocates.
  if (request != nullptr) {
    found->second.back().request = std::move(request);
    ++requests_;
  }
  sequences_.store(waiting_.size(), std::memory_order_release);
  return is_first ? Entry::kFirst : Entry::kJoined;
}

bool WaitingRequests::Resume(const SequenceKey& key, const ResumeRequest& resume) {
  std::vector<Waiting> ready;
  {
    MutexLock lock(mutex_);
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return true;
    ready.swap(found->second);
    requests_ -= ready.size();
  }
  for (Waiting& waiting : ready) resume(std::move(waiting));
  MutexLock lock(mutex_);
  const auto found = waiting_.find(key);
  if (found == waiting_.end()) return true;
  if (!found->second.empty()) return false;
  waiting_.erase(found);
  sequences_.store(waiting_.size(), std::memory_order_release);
  return true;
}

std::vector<SequenceKey> WaitingRequests::Sequences() const {
  std::vector<SequenceKey> keys;
  MutexLock lock(mutex_);
  for (const auto& [key, waiting] : waiting_) keys.push_back(key);
  return keys;
}

bool WaitingRequests::Has(const SequenceKey& key) const {
  MutexLock lock(mutex_);
  return waiting_.contains(key);
}

}  // namespace nereid::handover
