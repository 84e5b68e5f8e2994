// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace nereid::api {

/// Models that a client loads by the paths of their directories, which are in no model repository
/// (multi-model endpoints of SageMaker). Thread-safe. The functions read file systems and block
/// meanwhile; they must not be called on an event loop.
class ModelDirectories {
 public:
  virtual ~ModelDirectories() = default;

  /// Makes the model in `directory` loadable by the name `model`. `directory` is that of a model,
  /// or contains one such directory, or those of an ensemble and of the models that it calls.
  /// Returns the name that Remove() needs. INVALID_ARGUMENT if there is no such model,
  /// ALREADY_EXISTS if the directory was added before, UNSUPPORTED unless the model control mode is
  /// EXPLICIT. Whether the client may name the directory is for the caller to check.
  virtual base::Result<std::string> Add(const std::string& directory, const std::string& model) = 0;
  /// Undoes Add(). A model that is loaded continues to serve.
  virtual base::Status Remove(const std::string& added) = 0;
};

}  // namespace nereid::api
