// SPDX-License-Identifier: Apache-2.0
#include "server/extensions.h"

namespace nereid::server {

std::string_view ServerVersion() { return "2.51.0"; }

std::vector<std::string> ServerExtensions() {
  // Triton's list in Triton's order, and "generate", which Triton does not list.
  return {"classification",
          "sequence",
          "model_repository",
          "model_repository(unload_dependents)",
          "schedule_policy",
          "model_configuration",
          "binary_tensor_data",
          "parameters",
          "statistics",
          "trace",
          "logging",
          "generate"};
}

}  // namespace nereid::server
