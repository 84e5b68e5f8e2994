// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nereid/backend/error.h"
#include "triton/core/tritonserver.h"

namespace nereid::framework {

using backend::Error;

/// An input or output as a framework's model declares it, as far as it does.
struct TensorSignature {
  std::string name;
  /// INVALID where the model does not say.
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  /// Not empty for a type that the model declares and the inference protocol does not have.
  std::string foreign_type = {};
  /// False where the model does not say how many dimensions there are.
  bool has_rank = false;
  /// With the batch dimension; -1 is variable.
  std::vector<int64_t> dims = {};
  /// False where the configuration may say otherwise: the dims are a guess.
  bool shape_binds = true;
  /// A run may leave the input out.
  bool has_default = false;
  /// False for sequences, maps and the like, which have neither dimensions nor a batch; then
  /// foreign_type says what it is.
  bool is_tensor = true;

  /// "FP32 [-1,64]"; "?" for what is not known.
  std::string Text() const;
};

struct ModelSignature {
  std::vector<TensorSignature> inputs;
  std::vector<TensorSignature> outputs;
};

/// The place of the tensor of that name, -1 if there is none.
int FindTensor(const std::vector<TensorSignature>& tensors, const std::string& name);

/// "x (FP32 [-1,64]), y (INT64 [-1])", of TensorSignatures or what is made of them.
template <typename Tensor>
std::string ListText(const std::vector<Tensor>& tensors) {
  std::string text;
  for (const TensorSignature& tensor : tensors) {
    text += (text.empty() ? "" : ", ") + tensor.name + " (" + tensor.Text() + ")";
  }
  return text.empty() ? "none" : text;
}

}  // namespace nereid::framework
