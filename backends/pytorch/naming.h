// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nereid/backend/error.h"
#include "pytorch/forward.h"

namespace nereid::pytorch {

using backend::Error;

/// An input or output of the configuration.
struct NamedTensor {
  std::string name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
};

/// How the tensors of a configuration correspond to the arguments and results of forward.
struct Naming {
  /// The argument index of each input.
  std::vector<size_t> arguments;
  /// Whether all inputs go to one argument, a dictionary of tensors by name.
  bool dictionary = false;
  /// The index of each output in the returned tuple or list. If forward returns a dictionary, the
  /// key is the output's name instead.
  std::vector<size_t> results;
};

/// Determines the correspondence. An input must have the name of an argument or end in `__<index>`;
/// an output must have the name of an element of a named tuple or end in `__<index>`. If some
/// inputs (outputs) have neither, all of them are used in the order of the configuration: inputs,
/// controls, states. INVALID_ARG, with the tensor and the signature of forward, if an index is out
/// of range or used twice, if types do not match, or if an argument gets no input.
Error MakeNaming(const std::string& model, const std::vector<NamedTensor>& inputs,
                 const std::vector<NamedTensor>& outputs, const ForwardSignature& forward,
                 Naming* naming);

}  // namespace nereid::pytorch
