// SPDX-License-Identifier: Apache-2.0
#include "server/server_metadata.h"

namespace nereid::server {

api::ServerMetadata MakeServerMetadata(const std::string& server_id) {
  api::ServerMetadata metadata;
  metadata.name = server_id;
  metadata.version = "2.51.0";
  // Triton's list in Triton's order, and "generate", which Triton does not list.
  metadata.extensions = {"classification",
                         "sequence",
                         "model_repository",
                         "model_repository(unload_dependents)",
                         "schedule_policy",
                         "model_configuration",
                         "system_shared_memory",
                         "cuda_shared_memory",
                         "binary_tensor_data",
                         "parameters",
                         "statistics",
                         "trace",
                         "logging",
                         "generate"};
  return metadata;
}

}  // namespace nereid::server
