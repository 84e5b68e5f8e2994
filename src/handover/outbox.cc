// SPDX-License-Identifier: Apache-2.0
#include "handover/outbox.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "handover/random_name.h"

namespace nereid::handover {

using base::MutexLock;
using base::Status;

/// A key of Outbox that is claimed; it is forgotten unless the claim succeeds.
class Outbox::Claiming {
 public:
  Claiming(Outbox& outbox, const SequenceKey& key) : outbox_(outbox), key_(key) {}
  Claiming(const Claiming&) = delete;
  Claiming& operator=(const Claiming&) = delete;
  ~Claiming() {
    if (!is_kept_) outbox_.Forget(key_);
  }
  void Keep() { is_kept_ = true; }

 private:
  Outbox& outbox_;
  const SequenceKey& key_;
  bool is_kept_ = false;
};

void Outbox::Forget(const SequenceKey& key) {
  MutexLock lock(mutex_);
  keys_.erase(keys_.find(key));
}

base::Result<std::string> Outbox::Claim(const SequenceKey& key) {
  {
    MutexLock lock(mutex_);
    if (keys_.size() >= kMaxHolds) {
      return Status::Unavailable("too many sequences are being handed over");
    }
    keys_.insert(key);
  }
  Claiming claiming(*this, key);
  SequenceMessage message;
  message.key = key;
  NEREID_ASSIGN_OR_RETURN(message.hold, RandomName());
  // If something fails below, the end of `held` lets this server serve the sequence again.
  NEREID_ASSIGN_OR_RETURN(LocalSequences::Held held, sequences_.Take(key));
  message.idle_ns = held.idle_ns;
  message.states = std::move(held.states);
  NEREID_ASSIGN_OR_RETURN(std::string bytes, Encode(message));
  Entry entry{key, std::move(held.hold), clock_.NowNs() + kHoldNs};
  MutexLock lock(mutex_);
  holds_.emplace(message.hold, std::move(entry));
  claiming.Keep();
  return bytes;
}

Status Outbox::Settle(const std::string& hold, bool takes) {
  std::map<std::string, Entry> ended;
  {
    MutexLock lock(mutex_);
    if (takes && std::find(taken_.begin(), taken_.end(), hold) != taken_.end()) {
      return Status::Ok();
    }
    if (settling_.contains(hold)) return Status::Unavailable("the sequence is being settled");
    const auto found = holds_.find(hold);
    if (found == holds_.end()) return Status::NotFound("the sequence is not held any more");
    if (takes) settling_.insert(hold);
    ended.insert(holds_.extract(found));
  }
  if (!takes) {
    End(std::move(ended));
    return Status::Ok();
  }
  const Entry& entry = ended.begin()->second;
  const bool has_left = entry.hold->Settle(/*serves=*/false);
  MutexLock lock(mutex_);
  settling_.erase(hold);
  keys_.erase(keys_.find(entry.key));
  if (!has_left) return Status::NotFound("the sequence has ended meanwhile");
  taken_.push_back(hold);
  if (taken_.size() > kMaxRemembered) taken_.pop_front();
  return Status::Ok();
}

std::map<std::string, Outbox::Entry> Outbox::TakeDue(uint64_t now_ns) {
  std::map<std::string, Entry> due;
  MutexLock lock(mutex_);
  for (auto each = holds_.begin(); each != holds_.end();) {
    const auto next = std::next(each);
    if (each->second.until_ns <= now_ns) due.insert(holds_.extract(each));
    each = next;
  }
  return due;
}

void Outbox::End(std::map<std::string, Entry> entries) {
  for (auto& [name, entry] : entries) {
    entry.hold->Settle(/*serves=*/true);
    Forget(entry.key);
  }
}

void Outbox::Expire() { End(TakeDue(clock_.NowNs())); }

void Outbox::Clear() { End(TakeDue(UINT64_MAX)); }

bool Outbox::Holds(const SequenceKey& key) const {
  MutexLock lock(mutex_);
  return keys_.contains(key);
}

bool Outbox::IsEmpty() const {
  MutexLock lock(mutex_);
  return keys_.empty();
}

}  // namespace nereid::handover
