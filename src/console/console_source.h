// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace nereid::console {

/// A model version's part of the plan of the CPUs.
struct CoreShare {
  std::string model;
  int64_t version = 0;
  size_t instances = 0;
  int threads = 0;     // of each instance
  std::string cpus;    // to which they are bound; empty: all
  std::string set_by;  // what decided
};

/// What the console knows of the server beside its InferenceService. The functions may be called
/// from any thread at the same time. Some block while they read files, so they must not be called
/// on an event loop.
struct ConsoleSource {
  /// Returns how the loaded models share the CPUs.
  std::function<std::vector<CoreShare>()> core_shares;
  /// Returns the document of `nereid explain --format=json` for a model that is loaded.
  std::function<base::Result<std::string>(const std::string& model)> explain;
};

}  // namespace nereid::console
