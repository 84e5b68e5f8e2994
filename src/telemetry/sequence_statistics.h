// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nereid::telemetry {

/// The sequences of one model version at one moment, and how those before ended.
struct SequenceStatistics {
  uint64_t active = 0;   // have a slot
  uint64_t backlog = 0;  // wait for one
  uint64_t slots = 0;    // of instances that take sequences
  uint64_t slots_in_use = 0;
  /// By reason; every reason is listed.
  std::vector<std::pair<std::string, uint64_t>> ended;
};

/// One live sequence.
struct SequenceInfo {
  std::string id;        // a number in decimal, or the text
  bool text_id = false;  // which of them
  bool open = true;      // takes further requests
  bool has_slot = false;
  std::string instance;  // without a slot empty, and the next 0
  uint32_t slot = 0;
  size_t queued = 0;       // requests that wait
  bool executing = false;  // one is with the backend
  uint64_t idle_ns = 0;    // since its last request came, or went; 0 while it has something to do
  uint64_t age_ns = 0;     // since its START
};

/// A part of a model's sequences: those in slots, then the backlog in its order.
struct SequenceList {
  uint64_t total = 0;
  std::vector<SequenceInfo> sequences;  // the first of them
};

}  // namespace nereid::telemetry
