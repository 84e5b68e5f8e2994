// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nereid::ocr {

struct ReadText {
  std::string text;
  /// The mean probability of the characters; 0 where there are none.
  float score = 0;
};

/// Reads the output of a recognition model: for each of `steps` steps along the line, one
/// probability for each of the characters, of which number 0 means that there is nothing. The
/// likeliest one of each step counts, equal ones side by side once.
ReadText DecodeGreedily(const float* probabilities, size_t steps,
                        const std::vector<std::string>& characters);

}  // namespace nereid::ocr
