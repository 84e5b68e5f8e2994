// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/model_config.h"

namespace nereid::config {

/// What a model's directory holds, as far as the derivation of a configuration looks at it.
struct ModelFiles {
  struct Entry {
    std::string name;
    bool is_directory = false;
  };
  /// The model's directory, without its parents.
  std::string directory_name;
  /// The sub-directories and what they hold.
  std::map<std::string, std::vector<Entry>> subdirectories;
};

/// Reads one level of sub-directories below a local model directory. NOT_FOUND if there is none.
base::Result<ModelFiles> ReadModelFiles(const std::string& model_directory);

/// Derives what the configuration leaves out: the name from the directory; platform, backend and
/// default file name from each other or from the files of the first version; then the defaults of
/// NormaliseModelConfig. Runs whether or not the backend may complete configurations.
/// INVALID_ARGUMENT if no backend can be told.
base::Result<ModelConfigPtr> CompleteModelConfig(const ModelConfig& config,
                                                 const ModelFiles& files);

/// Fills the defaults that do not depend on files or backends: the version policy, preferred batch
/// sizes, the idle time of sequences, pinned memory.
ModelConfigPtr NormaliseModelConfig(const ModelConfig& config);

/// What decides the defaults of instance groups.
struct InstanceDefaults {
  struct PreferredGroup {
    InstanceKind kind = InstanceKind::kAuto;
    /// 0 for no preference.
    int32_t count = 0;
    std::vector<int32_t> gpus;
  };
  /// The ids of the GPUs that can be used.
  std::vector<int32_t> gpus;
  /// The backend's wishes, best first; a wish for GPUs that are missing is passed over.
  std::vector<PreferredGroup> preferred;
};

/// Gives every group a name, a kind other than AUTO, a count and (GPU) its devices; adds the one
/// group that a configuration without any has. Ensembles stay without groups.
ModelConfigPtr CompleteInstanceGroups(const ModelConfig& config, const InstanceDefaults& defaults);

/// Takes over what a backend may change: max_batch_size, the lists of inputs and outputs, a
/// scheduler where none was chosen, and the decoupled flag. `backend_json` is the whole
/// configuration as the backend returned it; the rest of it is ignored. The result is normalised,
/// and to be validated.
base::Result<ModelConfigPtr> MergeBackendConfig(const ModelConfig& config,
                                                std::string_view backend_json);

}  // namespace nereid::config
