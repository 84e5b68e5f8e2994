// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/tools/remote/model_counters.h"
#include "app/tools/remote/replies.h"

namespace nereid::app::tools {

/// What a server told at one time.
struct TopSample {
  uint64_t time_ns = 0;
  std::vector<ModelCounters> counters;
  std::vector<IndexedModel> index;  // empty if the server does not show it
};

/// What one version of a model did between two samples.
struct TopRow {
  std::string model, version, state;
  double requests_per_second = 0, failures_per_second = 0, inferences_per_second = 0;
  double latency_ms = 0, queue_ms = 0;  // means of a request; 0 without requests
  double batch = 0;                     // mean; 0 without executions
  double busy = 0;                      // executions that ran at the same time, on average
  uint64_t memory_bytes = 0;            // 0: not known
};

/// Returns the rows of two samples: those with most requests first, then by name and version. A
/// model without numbers has a row with its state. `before` may be empty: all numbers are 0.
std::vector<TopRow> TopRows(const TopSample& before, const TopSample& after);

/// How a frame is shown.
struct TopView {
  std::string url = {};
  double seconds = 0;        // between the samples
  std::string problem = {};  // why there is no new sample; empty: there is one
  size_t columns = 0;        // of the terminal; 0: any number
  size_t lines = 0;          // likewise
  bool color = false;
};

/// Returns the lines of a frame, each with its end: the head, the rows that fit and the number of
/// those that do not. No line is longer than `columns` characters.
std::string TopText(const std::vector<TopRow>& rows, const TopView& view);

/// Returns the rows as a JSON array on one line.
std::string TopJson(const std::vector<TopRow>& rows);

}  // namespace nereid::app::tools
