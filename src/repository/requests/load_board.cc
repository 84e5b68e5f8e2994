// SPDX-License-Identifier: Apache-2.0
#include "repository/requests/load_board.h"

#include <utility>

namespace nereid::repository {

using base::Status;

std::shared_ptr<LoadRun> LoadBoard::Begin(const ModelId& id) {
  const bool can_be_cancelled = has_clients_ == nullptr || has_clients_();
  auto run = std::make_shared<LoadRun>(clock_, timeout_ns_, can_be_cancelled);
  base::MutexLock lock(mutex_);
  entries_[id].run = run;
  return run;
}

void LoadBoard::End(const ModelId& id, const Status& status) {
  base::MutexLock lock(mutex_);
  Entry& entry = entries_[id];
  const uint64_t duration_ns = entry.run == nullptr ? 0 : entry.run->ElapsedNs();
  std::string reason = entry.run == nullptr ? std::string() : entry.run->Reason();
  if (reason.empty()) reason = status.message();
  entry.run = nullptr;
  entry.record.last = {status, std::move(reason), duration_ns, clock_.WallMs()};
  ++(status.ok() ? entry.record.successes : entry.record.failures);
}

void LoadBoard::EndUnchanged(const ModelId& id) {
  base::MutexLock lock(mutex_);
  Entry& entry = entries_[id];
  entry.run = nullptr;
  if (entry.record.HasFailed()) entry.record.last.reset();
}

void LoadBoard::SetTags(const ModelId& id, const std::map<std::string, std::string>& tags) {
  base::MutexLock lock(mutex_);
  entries_[id].record.tags = tags;
}

size_t LoadBoard::Cancel(const std::string& name) {
  size_t count = 0;
  base::MutexLock lock(mutex_);
  for (auto it = entries_.lower_bound({name}); it != entries_.end() && it->first.name == name;
       ++it) {
    if (it->second.run == nullptr) continue;
    it->second.run->Cancel();
    ++count;
  }
  return count;
}

LoadRecord LoadBoard::RecordOf(const Entry& entry) {
  LoadRecord record = entry.record;
  if (entry.run != nullptr) {
    record.current = LoadRecord::Current{entry.run->Position(), entry.run->ElapsedNs()};
  }
  return record;
}

LoadBoard::Records LoadBoard::Find(const std::string& name) const {
  Records found;
  base::MutexLock lock(mutex_);
  for (auto it = entries_.lower_bound({name}); it != entries_.end() && it->first.name == name;
       ++it) {
    found.emplace(it->first, RecordOf(it->second));
  }
  return found;
}

LoadBoard::Records LoadBoard::List() const {
  Records list;
  base::MutexLock lock(mutex_);
  for (const auto& [id, entry] : entries_) list.emplace(id, RecordOf(entry));
  return list;
}

void LoadBoard::Forget(const ModelId& id) {
  base::MutexLock lock(mutex_);
  const auto found = entries_.find(id);
  if (found != entries_.end() && found->second.run == nullptr) entries_.erase(found);
}

}  // namespace nereid::repository
