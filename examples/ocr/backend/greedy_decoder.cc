// SPDX-License-Identifier: Apache-2.0
#include "greedy_decoder.h"

#include <algorithm>
#include <array>

namespace nereid::ocr {
namespace {

// Returns the largest of `count` values. Several lanes are used, because a compiler may not reorder
// a single maximum, and this loop reads every number of the model's output.
float Largest(const float* values, size_t count) {
  constexpr size_t kLanes = 16;
  std::array<float, kLanes> lanes;
  lanes.fill(values[0]);
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k) {
      lanes[k] = values[i + k] > lanes[k] ? values[i + k] : lanes[k];
    }
  }
  for (; i < count; ++i) {
    lanes[0] = values[i] > lanes[0] ? values[i] : lanes[0];
  }
  return *std::max_element(lanes.begin(), lanes.end());
}

}  // namespace

ReadText DecodeGreedily(const float* probabilities, size_t steps,
                        const std::vector<std::string>& characters) {
  const size_t entries = characters.size();
  ReadText read;
  size_t before = 0;
  size_t kept = 0;
  float sum = 0;
  for (size_t step = 0; step < steps; ++step) {
    const float* values = probabilities + step * entries;
    const float largest = Largest(values, entries);
    const float* found = std::find(values, values + entries, largest);
    // Nothing equals a NaN: such a step has no character.
    const size_t best = found == values + entries ? 0 : static_cast<size_t>(found - values);
    if (best != 0 && best != before) {
      read.text += characters[best];
      sum += largest;
      ++kept;
    }
    before = best;
  }
  read.score = kept == 0 ? 0 : sum / static_cast<float>(kept);
  return read;
}

}  // namespace nereid::ocr
