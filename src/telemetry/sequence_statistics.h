// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nereid::telemetry {

/// The sequences of one model version at one moment, and how the earlier ones ended.
struct SequenceStatistics {
  uint64_t active = 0;   // sequences that have a slot
  uint64_t backlog = 0;  // sequences that wait for a slot
  uint64_t slots = 0;    // slots of the instances that accept sequences
  uint64_t slots_in_use = 0;
  /// Pairs of a reason and a number. Every reason is listed.
  std::vector<std::pair<std::string, uint64_t>> ended;
};

/// The state of one active or waiting sequence.
struct SequenceInfo {
  std::string id;        // a decimal number, or text
  bool text_id = false;  // whether `id` was sent as text
  bool open = true;      // whether the sequence accepts further requests
  bool has_slot = false;
  std::string instance;  // empty without a slot; `slot` is 0 then
  uint32_t slot = 0;
  size_t queued = 0;       // requests that wait
  bool executing = false;  // whether the backend is executing a request
  // Since the last request arrived or completed; 0 while requests wait or execute.
  uint64_t idle_ns = 0;
  uint64_t age_ns = 0;  // since the request with START
};

/// A part of a model's sequences: first those in slots, then the waiting ones in order.
struct SequenceList {
  uint64_t total = 0;
  std::vector<SequenceInfo> sequences;  // the first ones of `total`
};

}  // namespace nereid::telemetry
