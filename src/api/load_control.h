// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace nereid::api {

/// The loads of one model.
struct ModelLoads {
  /// A load that runs.
  struct Current {
    std::string stage;  // "settling", "reading" or "loading"
    uint64_t elapsed_ms = 0;
    std::string progress = {};  // of a download, for people; empty if there is none
    int64_t version = 0;        // that is being created in stage "loading"
    size_t versions_done = 0;
    size_t versions = 0;   // that are to be created; 0: not known yet
    uint32_t attempt = 1;  // at this version
  };
  /// The last load that has ended. A load without effect does not count.
  struct Last {
    std::string error;  // empty if it has succeeded
    uint64_t duration_ms = 0;
    uint64_t wall_ms = 0;  // when it ended, since the Unix epoch
  };
  std::string model;
  size_t waiting = 0;  // requests that wait for the load that runs
  std::optional<Current> current = std::nullopt;
  std::optional<Last> last = std::nullopt;
  uint64_t successes = 0;
  uint64_t failures = 0;
};

/// The loads of models, which Triton does not show. Thread-safe; no function blocks.
class LoadControl {
 public:
  virtual ~LoadControl() = default;

  /// Returns NOT_FOUND for a model that was never loaded, or not since it was unloaded.
  virtual base::Result<ModelLoads> Get(const std::string& model) const = 0;
  /// Cancels the load of a model that runs, and those that wait for it. What serves continues.
  /// Returns NOT_FOUND if there is none.
  virtual base::Status Cancel(const std::string& model) = 0;
};

}  // namespace nereid::api
