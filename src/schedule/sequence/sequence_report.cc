// SPDX-License-Identifier: Apache-2.0
// The numbers and the list of sequences for the statistics and the sequence documents.
#include <algorithm>
#include <utility>

#include "schedule/sequence/sequence_planner.h"

namespace nereid::schedule {

std::optional<telemetry::SequenceStatistics> SequencePlanner::CountSequences() const {
  telemetry::SequenceStatistics counts;
  counts.active = table_.active().size() + table_.idle().size();
  counts.backlog = table_.backlog().size();
  counts.slots = table_.slots();
  counts.slots_in_use = table_.slots() - table_.free_slots();
  for (size_t i = 0; i < ended_.size(); ++i) {
    counts.ended.emplace_back(SequenceEndLabel(static_cast<SequenceEnd>(i)), ended_[i]);
  }
  return counts;
}

telemetry::SequenceList SequencePlanner::ListSequences(
    size_t most, uint64_t now_ns, const std::function<std::string(InstanceId)>& name_of) const {
  telemetry::SequenceList list;
  for (const SequenceTable::List* part : {&table_.active(), &table_.idle(), &table_.backlog()}) {
    list.total += part->size();
    for (const Sequence& sequence : *part) {
      if (list.sequences.size() >= most) break;
      telemetry::SequenceInfo& info = list.sequences.emplace_back();
      info.text_id = std::holds_alternative<std::string>(sequence.id);
      info.id = request::CorrelationIdText(sequence.id);
      info.open = sequence.open;
      info.has_slot = sequence.standing != Sequence::Standing::kBacklog;
      if (info.has_slot) info.instance = name_of(sequence.instance);
      info.slot = sequence.slot;
      info.queued = sequence.queue.size();
      info.executing = sequence.running;
      const bool idle = sequence.standing == Sequence::Standing::kIdle;
      info.idle_ns = idle ? now_ns - std::min(now_ns, sequence.touched_ns) : 0;
      info.age_ns = now_ns - std::min(now_ns, sequence.begin_ns);
    }
  }
  return list;
}

}  // namespace nereid::schedule
