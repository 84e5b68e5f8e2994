// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nereid::request {

/// A part of a region of shared memory, as a request names it. Nothing is checked yet.
struct RegionPart {
  std::string region;
  uint64_t offset = 0;
  uint64_t byte_size = 0;
};

/// The tensors of one request that are in shared memory instead of in its message.
struct SharedTensors {
  struct Input {
    size_t index = 0;  // in the request's inputs
    RegionPart part;
  };
  struct Output {
    std::string name;
    RegionPart part;
  };
  std::vector<Input> inputs;
  /// For an output that is listed several times the first entry counts.
  std::vector<Output> outputs;
};

}  // namespace nereid::request
