// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/model_config.h"

namespace nereid::config {

/// The content of a model's directory, as far as the completion of a configuration uses it.
struct ModelFiles {
  struct Entry {
    std::string name;
    bool is_directory = false;
  };
  /// The name of the model's directory, without the path to it.
  std::string directory_name;
  /// The subdirectories, by name, and their entries.
  std::map<std::string, std::vector<Entry>> subdirectories;
};

/// Reads a local model directory and its direct subdirectories. NOT_FOUND if the directory does not
/// exist, INTERNAL if a listing fails.
base::Result<ModelFiles> ReadModelFiles(const std::string& model_directory);

/// Derives the parts that a configuration leaves out. The name comes from the directory. Platform,
/// backend and default file name come from each other or from the files of the first version. Then
/// the defaults of NormalizeModelConfig are filled in. This runs whether or not the backend may
/// complete configurations. INVALID_ARG if no backend can be determined.
base::Result<ModelConfigPtr> CompleteModelConfig(const ModelConfig& config,
                                                 const ModelFiles& files);

/// Fills in the defaults that depend on neither files nor backends: version policy, preferred batch
/// sizes, idle time of sequences, pinned memory.
ModelConfigPtr NormalizeModelConfig(const ModelConfig& config);

/// The inputs of the defaults of instance groups.
struct InstanceDefaults {
  struct PreferredGroup {
    InstanceKind kind = InstanceKind::kAuto;
    /// 0 means no preference.
    int32_t count = 0;
    std::vector<int32_t> gpus;
  };
  /// The ids of the usable GPUs.
  std::vector<int32_t> gpus;
  /// The groups that the backend prefers, best first. A group with GPUs that do not exist is
  /// skipped.
  std::vector<PreferredGroup> preferred;
};

/// Gives every group a name, a kind other than AUTO, a count and, for kind GPU, its devices. Adds
/// one group to a configuration that has none. Ensembles stay without groups.
ModelConfigPtr CompleteInstanceGroups(const ModelConfig& config, const InstanceDefaults& defaults);

/// Takes over the parts that a backend may change: max_batch_size, the lists of inputs and outputs,
/// the scheduler if none was chosen, and the decoupled flag. `backend_json` is the complete
/// configuration as the backend returned it; its other parts are ignored. The result is normalized
/// but not validated. INVALID_ARG if the JSON cannot be parsed, INTERNAL if the backend changes a
/// scheduler that was chosen.
base::Result<ModelConfigPtr> MergeBackendConfig(const ModelConfig& config,
                                                std::string_view backend_json);

}  // namespace nereid::config
