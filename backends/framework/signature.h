// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nereid/backend/error.h"
#include "triton/core/tritonserver.h"

namespace nereid::framework {

using backend::Error;

/// An input or output, as far as a framework's model declares it.
struct TensorSignature {
  std::string name;
  /// INVALID if the model does not declare it.
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  /// Describes a declared type that the inference protocol does not have; otherwise empty.
  std::string foreign_type = {};
  /// False if the model does not declare the number of dimensions.
  bool has_rank = false;
  /// With the batch dimension; -1 is variable.
  std::vector<int64_t> dims = {};
  /// The names of variable dimensions, and "" for other dimensions. Equal names mean equal sizes.
  /// Empty if the model names no dimensions.
  std::vector<std::string> symbols = {};
  /// Whether the framework describes a scalar and a tensor of undeclared rank in the same way.
  /// has_rank is true and `dims` is empty then.
  bool scalar_or_open = false;
  /// False if `dims` is a guess that the configuration may contradict.
  bool shape_binds = true;
  /// Whether a run may omit the input.
  bool has_default = false;
  /// False for sequences, maps and similar types, which have neither dimensions nor a batch;
  /// foreign_type describes them.
  bool is_tensor = true;
  /// Whether its values are dimensions. It has one dimension, or none for a single value; in a
  /// model that batches, the first value is the batch size, which the configuration leaves out.
  bool shape_tensor = false;
  /// Whether its elements have another order in memory than the protocol says.
  bool non_linear = false;

  /// Describes the tensor, such as "FP32 [-1,64]"; "?" stands for an unknown part.
  std::string Text() const;
};

struct ModelSignature {
  std::vector<TensorSignature> inputs;
  std::vector<TensorSignature> outputs;
  /// The largest batch that the model accepts, if it declares one. 0 or 1 for a model that cannot
  /// batch.
  std::optional<int64_t> max_batch_size = std::nullopt;
};

/// Returns the index of the tensor with this name, or -1.
int FindTensor(const std::vector<TensorSignature>& tensors, const std::string& name);

/// Lists TensorSignatures or derived types as text, such as "x (FP32 [-1,64]), y (INT64 [-1])".
template <typename Tensor>
std::string ListText(const std::vector<Tensor>& tensors) {
  std::string text;
  for (const TensorSignature& tensor : tensors) {
    text += (text.empty() ? "" : ", ") + tensor.name + " (" + tensor.Text() + ")";
  }
  return text.empty() ? "none" : text;
}

}  // namespace nereid::framework
