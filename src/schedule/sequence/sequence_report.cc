// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/sequence_report.h"

#include <algorithm>
#include <variant>

namespace nereid::schedule {

telemetry::SequenceStatistics CountSequences(const SequenceTable& table,
                                             const SequenceEndCounts& ended) {
  telemetry::SequenceStatistics counts;
  counts.active = table.active().size() + table.idle().size();
  counts.backlog = table.backlog().size();
  counts.slots = table.slots();
  counts.slots_in_use = table.slots() - table.free_slots();
  for (size_t i = 0; i < ended.size(); ++i) {
    counts.ended.emplace_back(SequenceEndLabel(static_cast<SequenceEnd>(i)), ended[i]);
  }
  return counts;
}

telemetry::SequenceList ListSequences(const SequenceTable& table, size_t limit, uint64_t now_ns,
                                      const std::function<std::string(InstanceId)>& name_of) {
  telemetry::SequenceList list;
  for (const SequenceTable::List* part : {&table.active(), &table.idle(), &table.backlog()}) {
    list.total += part->size();
    for (const Sequence& sequence : *part) {
      if (list.sequences.size() >= limit) break;
      telemetry::SequenceInfo& info = list.sequences.emplace_back();
      info.text_id = std::holds_alternative<std::string>(sequence.id);
      info.id = request::CorrelationIdText(sequence.id);
      info.open = sequence.is_open();
      info.has_slot = sequence.has_slot();
      if (info.has_slot) info.instance = name_of(sequence.instance);
      info.slot = sequence.slot;
      info.queued = sequence.queue.size();
      info.executing = sequence.phase == SequencePhase::kRunning;
      const bool idle = sequence.phase == SequencePhase::kIdle;
      info.idle_ns = idle ? now_ns - std::min(now_ns, sequence.touched_ns) : 0;
      info.age_ns = now_ns - std::min(now_ns, sequence.begin_ns);
    }
  }
  return list;
}

}  // namespace nereid::schedule
