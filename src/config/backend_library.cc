// SPDX-License-Identifier: Apache-2.0
#include "config/backend_library.h"

#include "base/files.h"

namespace nereid::config {

base::Result<std::vector<std::string>> BackendLibraryPlaces(const std::string& backend,
                                                            const std::string& runtime,
                                                            const std::string& version_directory,
                                                            const std::string& model_directory,
                                                            const std::string& backend_directory) {
  const std::string file = runtime.empty() ? "libtriton_" + backend + ".so" : runtime;
  if (!base::IsPlainName(backend) || !base::IsPlainName(file)) {
    return base::Status::InvalidArgument("backend name '" + backend + "' and runtime '" + runtime +
                                         "' must be plain names without '/'");
  }
  std::vector<std::string> places;
  for (const std::string& directory :
       {version_directory, model_directory, base::JoinPath(backend_directory, backend)}) {
    places.push_back(base::JoinPath(directory, file));
  }
  return places;
}

std::string NoBackendLibraryText(const std::string& backend) {
  return "unable to find backend library for backend '" + backend +
         "', try specifying runtime on the model configuration.";
}

}  // namespace nereid::config
