// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nereid/backend/error.h"

namespace nereid::tensorrt {

using backend::Error;

/// The range that an optimization profile allows for an input: its shape or, for a shape tensor,
/// its values. All three members have the same length; the bounds are inclusive.
struct ProfileRange {
  std::vector<int64_t> least;
  std::vector<int64_t> best;
  std::vector<int64_t> most;
};

/// A profile of an engine, with a range for each of its inputs.
struct Profile {
  int index = 0;
  std::vector<ProfileRange> inputs;
};

/// Parses the profiles in an instance group ("0", "2"); the first profile if there are none.
/// `count` is the number of the engine's profiles. INVALID_ARG for other names.
Error ParseProfiles(std::span<const std::string> names, int count, std::vector<int>* indices);

/// Returns the index in `profiles` of the profile that accepts these inputs (shapes, or values of
/// shape tensors) and whose optimum is nearest, by the sum of the differences. INVALID_ARG if there
/// is none, with the input that no profile accepts; `names` are the names of the inputs.
Error ChooseProfile(std::span<const Profile> profiles, std::span<const std::string> names,
                    std::span<const std::vector<int64_t>> inputs, size_t* place);

}  // namespace nereid::tensorrt
