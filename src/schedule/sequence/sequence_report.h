// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "schedule/sequence/sequence_table.h"
#include "telemetry/sequence_statistics.h"

namespace nereid::schedule {

/// Returns the numbers of live and ended sequences, for the statistics and the metrics.
telemetry::SequenceStatistics CountSequences(const SequenceTable& table,
                                             const SequenceEndCounts& ended);

/// Describes the first `limit` live sequences: those with a request, the idle ones, the backlog.
/// `name_of` returns the name of an instance.
telemetry::SequenceList ListSequences(const SequenceTable& table, size_t limit, uint64_t now_ns,
                                      const std::function<std::string(InstanceId)>& name_of);

}  // namespace nereid::schedule
