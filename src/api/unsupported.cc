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

}  // namespace nereid::api
