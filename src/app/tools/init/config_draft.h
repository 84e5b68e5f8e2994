// SPDX-License-Identifier: Apache-2.0
// A first version of a configuration, made from a model file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/data_type.h"

namespace nereid::app::tools {

/// An input or an output that a model file declares.
struct DraftTensor {
  std::string name;
  /// kInvalid if the file does not contain the type, or the protocol does not have it.
  tensor::DataType data_type = tensor::DataType::kInvalid;
  /// Includes the batch dimension; -1 is variable.
  std::vector<int64_t> dims;
  /// False if the file does not contain the dims.
  bool has_dims = true;
  /// True if the name is not one of the model, so that the user must replace it.
  bool is_example = false;
  /// A comment for the configuration.
  std::string note;
};

/// The configuration that WriteConfig writes.
struct ConfigDraft {
  std::string backend;
  /// Empty unless the backend has several platforms.
  std::string platform;
  /// Empty for the backend's default.
  std::string default_model_filename;
  std::vector<DraftTensor> inputs;
  std::vector<DraftTensor> outputs;
  /// How long a batch waits for further requests, in microseconds.
  int64_t queue_delay_us = 0;
  /// True if the file does not contain inputs and outputs: the lists above are examples then.
  bool is_skeleton = false;
  /// Comments for the head of the file, one line each.
  std::vector<std::string> notes;
};

/// Returns whether every tensor has a variable first dimension, which can be the batch dimension.
bool CanBatch(const ConfigDraft& draft);

/// Returns the text of a config.pbtxt, with comments for its future editor. If `max_batch_size` is
/// above 0, the first dimension of every tensor is the batch dimension.
std::string WriteConfig(const ConfigDraft& draft, int32_t max_batch_size);

}  // namespace nereid::app::tools
