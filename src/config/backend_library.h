// SPDX-License-Identifier: Apache-2.0
// Source: section "Backend Shared Library" of the README of Triton's backend repository.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace nereid::config {

/// What is needed to find the backend library of one model version.
struct BackendLibrarySearch {
  std::string model;
  std::string backend;
  /// The name of the library file. If empty, it is libtriton_<backend>.so.
  std::string runtime;
  std::string version_directory;
  std::string model_directory;
};

/// Returns the paths where the library may be, in search order: the version's directory, the
/// model's directory, <backend directory>/<backend>. INVALID_ARG if the backend or the file name
/// contains '/' or is otherwise not a plain name.
base::Result<std::vector<std::string>> BackendLibraryPlaces(const BackendLibrarySearch& search,
                                                            const std::string& backend_directory);

/// Returns the library that runs a backend which is written in Python: that of the Python backend,
/// if <backend directory>/<backend> has a model.py. Empty for any other backend. Used if none of
/// BackendLibraryPlaces exists.
std::string PythonBackendLibrary(const BackendLibrarySearch& search,
                                 const std::string& backend_directory);

/// Returns whether a library for this search is installed, or lies in the model's directories.
bool HasBackendLibrary(const BackendLibrarySearch& search, const std::string& backend_directory);

/// Returns the error message for a library that is at none of these paths, in Triton's words.
std::string NoBackendLibraryText(const BackendLibrarySearch& search,
                                 const std::string& backend_directory);

/// Returns the path of the library of a repository agent.
std::string RepositoryAgentLibrary(const std::string& agent_directory, const std::string& agent);

}  // namespace nereid::config
