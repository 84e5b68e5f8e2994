// SPDX-License-Identifier: Apache-2.0
// Reads the code in TorchScript files as text, without PyTorch. The format is that of
// torch/csrc/jit/serialization/python_print.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::layout {

/// The code of a TorchScript file: the text of each source, by its path below code/ without ".py",
/// for example "__torch__/torch/nn/modules/linear".
using TorchScriptCode = std::map<std::string, std::string>;

/// An argument of forward, without self.
struct TorchScriptArgument {
  std::string name;
  std::string type;  // as in the code: "Tensor", "Optional[Tensor]", "List[str]", "int"
  bool has_default = false;
};

/// What the code of a module says without being executed.
struct TorchScriptModule {
  bool has_forward = false;
  std::vector<TorchScriptArgument> arguments;
  /// The types of the results: the elements of a tuple, else one.
  std::vector<std::string> results;
  /// The names of the results if forward returns a named tuple; else empty.
  std::vector<std::string> result_names;
  /// The attributes that methods assign when they run, sorted: what a call leaves for the next one.
  std::vector<std::string> state;
};

/// Returns the qualified name of the root class ("__torch__.modules.Net") from the beginning of
/// data.pkl; empty if it is not there.
std::string RootClassOf(std::string_view data_pkl);

/// Reads the signature of forward of the root class, and the attributes that any class assigns.
TorchScriptModule ReadModuleCode(const TorchScriptCode& code, std::string_view root_class);

}  // namespace nereid::layout
