// SPDX-License-Identifier: Apache-2.0
// A configuration to begin with, made of what a model file tells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/data_type.h"

namespace nereid::app::tools {

/// An input or an output, as the model file declares it.
struct DraftTensor {
  std::string name;
  /// kInvalid where the file does not tell, or the protocol has no such type.
  tensor::DataType data_type = tensor::DataType::kInvalid;
  /// With the batch dimension; -1 is variable.
  std::vector<int64_t> dims;
  /// False: the file does not tell the dims.
  bool has_dims = true;
  /// Stands as a comment in the configuration.
  std::string note;
};

struct ConfigDraft {
  std::string backend;
  /// Only where the backend has more than one.
  std::string platform;
  /// Empty: the backend's own name.
  std::string default_model_filename;
  std::vector<DraftTensor> inputs;
  std::vector<DraftTensor> outputs;
  /// The file does not tell inputs and outputs: those above are examples to be replaced.
  bool is_skeleton = false;
  /// Comments for the head of the file, one line each.
  std::vector<std::string> notes;
};

/// Whether every tensor has a variable first dimension, which then is the batch.
bool CanBatch(const ConfigDraft& draft);

/// The text of a config.pbtxt, with comments for whoever goes on with it. `max_batch_size` above 0
/// takes the first dimension of every tensor for the batch.
std::string WriteConfig(const ConfigDraft& draft, int32_t max_batch_size);

}  // namespace nereid::app::tools
