// SPDX-License-Identifier: Apache-2.0
#include "base/stages.h"

#include <utility>

namespace nereid::base {

const char* StageKindName(StageKind kind) {
  switch (kind) {
    case StageKind::kEventLoop:
      return "event-loop";
    case StageKind::kTimers:
      return "timers";
    case StageKind::kScheduler:
      return "scheduler";
    case StageKind::kPool:
      return "pool";
  }
  return "";
}

StageList::Entry::Entry(StageFacts facts, Stage& stage) {
  StageList& list = ProcessStages();
  const MutexLock lock(list.mutex_);
  place_ = list.stages_.insert(list.stages_.end(), {list.next_id_++, std::move(facts), &stage});
}

StageList::Entry::~Entry() {
  StageList& list = ProcessStages();
  const MutexLock lock(list.mutex_);
  list.stages_.erase(place_);
}

void StageList::ForEach(
    const std::function<void(uint64_t id, const StageFacts& facts, Stage& stage)>& visit) {
  const MutexLock lock(mutex_);
  for (const Listed& listed : stages_) visit(listed.id, listed.facts, *listed.stage);
}

StageList& ProcessStages() {
  static StageList& list = *new StageList;  // never destroyed: stages may outlive static objects
  return list;
}

}  // namespace nereid::base
