// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nereid/backend/error.h"

namespace nereid::tensorrt {

using backend::Error;

/// What an optimization profile allows of one input: its shape, or for a shape tensor its values.
/// The three have the same length; `least` and `most` include their ends.
struct ProfileRange {
  std::vector<int64_t> least;
  std::vector<int64_t> best;
  std::vector<int64_t> most;
};

/// One profile of an engine: a range for each of its inputs.
struct Profile {
  int index = 0;
  std::vector<ProfileRange> inputs;
};

/// The profiles that an instance group names ("0", "2"); the first one where it names none.
/// `count` is how many the engine has.
Error ParseProfiles(std::span<const std::string> names, int count, std::vector<int>* indices);

/// The place in `profiles` of the one that takes these inputs (shapes, or values of shape tensors)
/// and whose best is nearest: the sum of the differences is least. The message of a failure names
/// the input, `names` having their names, that no profile takes.
Error ChooseProfile(std::span<const Profile> profiles, std::span<const std::string> names,
                    std::span<const std::vector<int64_t>> inputs, size_t* place);

}  // namespace nereid::tensorrt
