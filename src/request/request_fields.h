// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "request/correlation_id.h"
#include "request/parameter.h"

namespace nereid::request {

/// The values of TRITONSERVER_REQUEST_FLAG_*.
inline constexpr uint32_t kFlagSequenceStart = 1;
inline constexpr uint32_t kFlagSequenceEnd = 2;

/// What the client says about a request besides its tensors. Set before the request is submitted;
/// Normalize then fills in requested_outputs.
struct RequestFields {
  std::string model_name;
  int64_t model_version = -1;  // -1: the version policy decides
  std::string model_label;     // the label that named the version; empty for most requests
  std::string id;
  CorrelationId correlation_id = uint64_t{0};
  uint32_t flags = 0;                 // kFlagSequence*
  uint64_t priority = 0;              // 0: the model's default level
  uint64_t timeout_us = 0;            // longest time in the queue; 0: none
  uint64_t deadline_ns = 0;           // monotonic time at which the client stops waiting; 0: none
  std::vector<Parameter> parameters;  // in the order sent, with duplicates
  std::vector<std::string> requested_outputs;  // empty: all outputs of the model

  /// Returns whether the request belongs to a sequence that an earlier request has begun.
  bool ContinuesSequence() const {
    return (flags & kFlagSequenceStart) == 0 && !IsNone(correlation_id);
  }

  /// Returns "[request id: X] " or "[request id: <id_unknown>] ", the prefix of Triton's messages.
  std::string LogPrefix() const;
};

}  // namespace nereid::request
