// SPDX-License-Identifier: Apache-2.0
#include "config/backend_library.h"

#include <algorithm>

#include "base/files.h"

namespace nereid::config {
namespace {

/// The runtime of backends that are written in Python.
constexpr const char* kPythonRuntime = "model.py";

std::vector<std::string> Directories(const BackendLibrarySearch& search,
                                     const std::string& backend_directory) {
  return {search.version_directory, search.model_directory,
          base::JoinPath(backend_directory, search.backend)};
}

}  // namespace

base::Result<std::vector<std::string>> BackendLibraryPlaces(const BackendLibrarySearch& search,
                                                            const std::string& backend_directory) {
  if (!base::IsPlainName(search.backend)) {
    return base::Status::InvalidArgument("backend name '" + search.backend + "' and runtime '" +
                                         search.runtime + "' must be plain names without '/'");
  }
  const std::string file =
      search.runtime.empty() ? "libtriton_" + search.backend + ".so" : search.runtime;
  if (!base::IsPlainName(file)) {
    return base::Status::InvalidArgument(
        "backend library name '" + file + "' escapes backend directory '" +
        base::JoinPath(backend_directory, search.backend) + "', for model '" + search.model +
        "', check model config runtime field");
  }
  std::vector<std::string> places;
  if (file == kPythonRuntime) return places;
  for (const std::string& directory : Directories(search, backend_directory)) {
    places.push_back(base::JoinPath(directory, file));
  }
  return places;
}

std::string PythonBackendLibrary(const BackendLibrarySearch& search,
                                 const std::string& backend_directory) {
  const bool may_be = search.runtime.empty() || search.runtime == kPythonRuntime;
  const std::string directory = base::JoinPath(backend_directory, search.backend);
  if (!may_be || !base::PathExists(base::JoinPath(directory, kPythonRuntime))) return "";
  const std::string library =
      base::JoinPath(base::JoinPath(backend_directory, "python"), "libtriton_python.so");
  return base::PathExists(library) ? library : "";
}

bool HasBackendLibrary(const BackendLibrarySearch& search, const std::string& backend_directory) {
  const auto places = BackendLibraryPlaces(search, backend_directory);
  if (places.ok() && std::any_of(places->begin(), places->end(), base::PathExists)) return true;
  return places.ok() && !PythonBackendLibrary(search, backend_directory).empty();
}

std::string NoBackendLibraryText(const BackendLibrarySearch& search,
                                 const std::string& backend_directory) {
  if (search.runtime.empty()) {
    return "unable to find backend library for backend '" + search.backend +
           "', try specifying runtime on the model configuration.";
  }
  std::string text = "unable to find backend library '" + search.runtime + "' for model '" +
                     search.model + "', searched: ";
  for (const std::string& directory : Directories(search, backend_directory)) {
    text += "'" + directory + "' ";
  }
  return text;
}

std::string RepositoryAgentLibrary(const std::string& agent_directory, const std::string& agent) {
  return base::JoinPath(base::JoinPath(agent_directory, agent),
                        "libtritonrepoagent_" + agent + ".so");
}

}  // namespace nereid::config
