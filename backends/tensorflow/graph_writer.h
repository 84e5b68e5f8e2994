// SPDX-License-Identifier: Apache-2.0
// Writes the protobuf messages that the tests need.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/graph_check.h"
#include "tensorflow/wire.h"

namespace nereid::tensorflow::testing {

inline std::string Number(uint32_t field, int64_t value) {
  std::string out;
  AppendNumber(field, value, &out);
  return out;
}

inline std::string Text(uint32_t field, const std::string& value) {
  std::string length = Number(0, static_cast<int64_t>(value.size())).substr(1);
  return std::string(1, static_cast<char>(field << 3 | 2)) + length + value;
}

using Attributes = std::vector<std::pair<std::string, std::string>>;

/// Returns a NodeDef. The attributes are serialized AttrValues.
inline std::string Node(const std::string& name, const std::string& op,
                        const std::vector<std::string>& inputs, const Attributes& attributes = {}) {
  std::string out = Text(1, name) + Text(2, op);
  for (const std::string& input : inputs) {
    out += Text(3, input);
  }
  for (const auto& [key, value] : attributes) {
    out += Text(5, Text(1, key) + Text(2, value));
  }
  return out;
}

/// Returns a FunctionDef with the given numbers of arguments and results.
inline std::string Function(const std::string& name, int arguments, int results,
                            const std::vector<std::string>& nodes) {
  std::string signature = Text(1, name);
  for (int i = 0; i < arguments; ++i) {
    signature += Text(2, Text(1, "a"));
  }
  for (int i = 0; i < results; ++i) {
    signature += Text(3, Text(1, "r"));
  }
  std::string out = Text(1, signature);
  for (const std::string& node : nodes) {
    out += Text(3, node);
  }
  return out;
}

/// Returns a GraphDef.
inline std::string Graph(const std::vector<std::string>& nodes,
                         const std::vector<std::string>& functions = {}) {
  std::string out;
  for (const std::string& node : nodes) {
    out += Text(1, node);
  }
  std::string library;
  for (const std::string& function : functions) {
    library += Text(1, function);
  }
  return functions.empty() ? out : out + Text(2, library);
}

/// Return AttrValues.
inline std::string Type(int64_t type) { return Number(6, type); }
inline std::string Types(int count) {
  std::string list;
  for (int i = 0; i < count; ++i) {
    list += Number(6, 1);
  }
  return Text(1, list);
}
inline std::string Called(const std::string& function) { return Text(10, Text(1, function)); }
inline std::string Tensor(int64_t type, std::initializer_list<int64_t> dims,
                          const std::string& content) {
  std::string shape;
  for (const int64_t dim : dims) {
    shape += Text(2, Number(1, dim));
  }
  return Text(8, Number(1, type) + Text(2, shape) + Text(4, content));
}

/// Returns the OpDefs of some operations, in place of TensorFlow.
inline bool FindOp(const std::string& name, std::string* op_def) {
  if (name == "AddN") {
    *op_def = Text(1, name) + Text(2, Text(1, "inputs") + Text(5, "N")) + Text(3, Text(1, "sum"));
    return true;
  }
  if (name == "Unpack") {
    *op_def = Text(1, name) + Text(3, Text(1, "output") + Text(5, "num"));
    return true;
  }
  if (name == "Assign") {  // is_ref
    *op_def = Text(1, name) + Text(2, Text(1, "ref") + Number(16, 1)) + Text(2, Text(1, "value"));
    return true;
  }
  if (name == "ScatterInto") {  // of the type RESOURCE
    *op_def = Text(1, name) + Text(2, Text(1, "to") + Number(3, 20));
    return true;
  }
  for (const char* stateful : {"Placeholder", "VarHandleOp", "VariableV2", "ReadVariableOp",
                               "AssignVariableOp", "StatefulPartitionedCall"}) {
    if (name == stateful) {
      *op_def = Text(1, name) + Number(17, 1);
      return true;
    }
  }
  for (const char* plain : {"Identity", "Const", "PartitionedCall", "MatMul"}) {
    if (name == plain) {
      *op_def = Text(1, name);
      return true;
    }
  }
  return false;
}

}  // namespace nereid::tensorflow::testing
