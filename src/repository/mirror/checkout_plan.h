// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "repository/storage/object_store.h"

namespace nereid::repository::mirror {

/// The files and directories of a model whose objects are in a store.
struct CheckoutPlan {
  struct File {
    std::string path;  // below the model's directory
    storage::ObjectInfo object;
  };
  std::vector<std::string> directories;  // each one after the directory above it
  std::vector<File> files;               // sorted by path
  uint64_t bytes = 0;
};

/// Plans the directory of a model from the objects below `prefix`, which ends with '/'. A key that
/// ends with '/' is a directory without content, as consoles of stores make them. `model` is the
/// model's URL for messages. INVALID_ARGUMENT for a key that would lead out of the directory or has
/// an empty component, for a name or path that is too long for a file system, for an object that
/// would be a file and a directory, and for too many objects.
base::Result<CheckoutPlan> PlanCheckout(const std::string& model, const std::string& prefix,
                                        const std::vector<storage::ObjectInfo>& objects);

}  // namespace nereid::repository::mirror
