// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nereid/backend/error.h"

namespace nereid::pytorch {

using backend::Error;

/// How the tensors of a configuration meet the arguments of `forward` and what it returns.
struct Naming {
  /// For each input of the configuration (controls and states after them) the argument's place.
  std::vector<size_t> arguments;
  /// The inputs go into one argument, a dictionary of tensors by name.
  bool dictionary = false;
  /// For each output of the configuration (states after them) its place in the tuple or list that
  /// is returned; where a dictionary is returned, its key is the output's name.
  std::vector<size_t> results;
};

/// Brings them together. An input is an argument's name, or ends in `__<place>`; an output ends in
/// `__<place>`. Where some inputs (outputs) do neither, all of them are taken in the order of the
/// configuration. `arguments` are those of forward, without self; `takes_dictionary`: its only one
/// is a dictionary of tensors. INVALID_ARG naming the input where a place is out of range or twice.
Error MakeNaming(const std::string& model, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs, const std::vector<std::string>& arguments,
                 bool takes_dictionary, Naming* naming);

}  // namespace nereid::pytorch
