// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/tools/infer/inference_client.h"
#include "app/tools/tool.h"
#include "load/histogram.h"

namespace nereid::app::tools {

/// What came of the requests.
struct ManyOutcome {
  uint64_t answered = 0;
  uint64_t failed = 0;
  base::Status first_error;
  std::optional<InferReply> first_reply;
  uint64_t first_latency_ns = 0;
  uint64_t elapsed_ns = 0;
  load::Histogram latencies;
};

/// Sends the same request `repeat` times, at most `concurrency` at once, each from a thread of its
/// own. Shows the progress every two seconds. After a failure the others go on, but after 100 more
/// failures than answers no request begins.
ManyOutcome RunMany(InferenceClient& client, const EncodedCall& call, uint64_t repeat,
                    uint64_t concurrency, const ToolContext& context);

/// Returns the outcome as a line for people: counts, throughput and latencies.
std::string ManyText(const ManyOutcome& outcome, uint64_t concurrency);
/// Returns it as a JSON object.
std::string ManyJson(const ManyOutcome& outcome, uint64_t concurrency);

/// Returns nanoseconds as "1.23 ms".
std::string MillisecondsText(uint64_t ns);

}  // namespace nereid::app::tools
