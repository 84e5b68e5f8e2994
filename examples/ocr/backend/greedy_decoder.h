// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nereid::ocr {

struct ReadText {
  std::string text;
  /// The mean probability of the characters; 0 if there are none.
  float score = 0;
};

/// Reads the output of a recognition model: for each of `steps` steps along the line, one
/// probability for each character, of which number 0 means "no character". Takes the most probable
/// character of each step and merges adjacent equal ones.
ReadText DecodeGreedily(const float* probabilities, size_t steps,
                        const std::vector<std::string>& characters);

}  // namespace nereid::ocr
