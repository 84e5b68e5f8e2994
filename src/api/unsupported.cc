// SPDX-License-Identifier: Apache-2.0
#include "api/unsupported.h"

#include <string>

namespace nereid::api {

using base::Status;

Status CheckRepositoryName(std::string_view repository) {
  if (repository.empty()) return Status::Ok();
  return Status::Unsupported("'repository_name' specification is not supported");
}

Status ExtensionUnsupported(std::string_view extension) {
  return Status::Unsupported("the " + std::string(extension) + " extension is not supported yet");
}

Status TensorInSharedMemoryUnsupported(std::string_view tensor) {
  return Status::Unsupported(
      "shared memory is not supported yet: remove the 'shared_memory_region' parameter of tensor "
      "'" +
      std::string(tensor) + "'");
}

}  // namespace nereid::api
