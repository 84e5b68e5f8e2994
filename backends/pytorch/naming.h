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

/// How the tensors of a configuration meet the arguments of forward and what it returns.
struct Naming {
  /// For each input the argument's place.
  std::vector<size_t> arguments;
  /// The inputs go into one argument, a dictionary of tensors by name.
  bool dictionary = false;
  /// For each output its place in the tuple or list that is returned; where a dictionary is
  /// returned, its key is the output's name.
  std::vector<size_t> results;
};

/// Brings them together. An input is an argument's name, or ends in `__<place>`; an output is a
/// named tuple's element, or ends in `__<place>`. Where some inputs (outputs) do neither, all of
/// them are taken in the order of the configuration: controls after the inputs, then states.
/// INVALID_ARG naming the tensor, what forward has and what was found where a place is out of range
/// or taken twice, where types do not meet, or where an argument gets nothing.
Error MakeNaming(const std::string& model, const std::vector<NamedTensor>& inputs,
                 const std::vector<NamedTensor>& outputs, const ForwardSignature& forward,
                 Naming* naming);

}  // namespace nereid::pytorch
