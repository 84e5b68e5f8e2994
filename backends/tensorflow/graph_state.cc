// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/graph_state.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "tensorflow/wire.h"

namespace nereid::tensorflow {
namespace {

// Field numbers in addition to those in graph_check.cc: AttrValue: list = 1, func = 10;
// ListValue.func = 9; NameAttrList.name = 1; OpDef: input_arg = 2, is_stateful = 17;
// ArgDef: type = 3 (RESOURCE = 20), is_ref = 16.

/// Operations that TensorFlow calls stateful, or that take a resource, but change nothing. The
/// variables themselves are here, too: an operation that writes one is another node.
constexpr std::string_view kHarmless[] = {"Placeholder",
                                          "Variable",
                                          "VariableV2",
                                          "IsVariableInitialized",
                                          "VarHandleOp",
                                          "ReadVariableOp",
                                          "ResourceGather",
                                          "ResourceGatherNd",
                                          "VarIsInitializedOp",
                                          "HashTable",
                                          "HashTableV2",
                                          "LookupTableFind",
                                          "LookupTableFindV2",
                                          "LookupTableSize",
                                          "LookupTableSizeV2",
                                          "PartitionedCall",
                                          "StatefulPartitionedCall",
                                          "If",
                                          "While",
                                          "Case",
                                          "Assert",
                                          "RandomUniform",
                                          "RandomStandardNormal"};

struct Node {
  std::string_view op;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> functions;
};

std::string_view FirstText(std::string_view message, uint32_t field) {
  for (WireReader reader(message); reader.Next();) {
    if (reader.field() == field) {
      return reader.text();
    }
  }
  return {};
}

void AddFunctions(std::string_view attribute, Node* node) {
  for (WireReader value(FirstText(attribute, 2)); value.Next();) {
    if (value.field() == 10) {
      node->functions.push_back(FirstText(value.text(), 1));
    } else if (value.field() == 1) {
      for (WireReader list(value.text()); list.Next();) {
        if (list.field() == 9) {
          node->functions.push_back(FirstText(list.text(), 1));
        }
      }
    }
  }
}

/// Returns the name of a node, and the node.
std::pair<std::string_view, Node> ReadNode(std::string_view bytes) {
  std::pair<std::string_view, Node> named;
  for (WireReader reader(bytes); reader.Next();) {
    if (reader.field() == 1) {
      named.first = reader.text();
    } else if (reader.field() == 2) {
      named.second.op = reader.text();
    } else if (reader.field() == 3) {
      named.second.inputs.push_back(reader.text());
    } else if (reader.field() == 5) {
      AddFunctions(reader.text(), &named.second);
    }
  }
  return named;
}

/// Returns the node of a tensor: "name" for "name", "name:1" and "^name".
std::string_view NodeName(std::string_view tensor) {
  if (tensor.starts_with('^')) {
    tensor.remove_prefix(1);
  }
  return tensor.substr(0, tensor.find(':'));
}

/// Returns whether an argument of an operation is a variable or another resource.
bool TakesState(std::string_view arg_def) {
  bool takes = false;
  for (WireReader reader(arg_def); reader.Next();) {
    takes = takes || (reader.field() == 16 && reader.number() != 0) ||
            (reader.field() == 3 && reader.number() == 20);
  }
  return takes;
}

class Walk {
 public:
  Walk(std::string_view graph_def, const FindOpDef& find) : find_(find) {
    for (WireReader reader(graph_def); reader.Next();) {
      if (reader.field() == 1) {
        nodes_.insert(ReadNode(reader.text()));
      } else if (reader.field() == 2) {
        for (WireReader library(reader.text()); library.Next();) {
          if (library.field() == 1) {
            functions_[FirstText(FirstText(library.text(), 1), 1)] = library.text();
          }
        }
      }
    }
  }

  bool Changes(const std::vector<std::string>& outputs) {
    std::vector<std::string_view> open;
    std::transform(outputs.begin(), outputs.end(), std::back_inserter(open), NodeName);
    while (!open.empty()) {
      const auto found = nodes_.find(open.back());
      open.pop_back();
      if (found == nodes_.end() || !seen_.insert(found->first).second) {
        continue;
      }
      // Follows the inputs of the outputs, and then all nodes of the functions that they call. A
      // function's nodes are all visited, without following its inputs.
      Visit(found->second);
      std::transform(found->second.inputs.begin(), found->second.inputs.end(),
                     std::back_inserter(open), NodeName);
    }
    while (!open_functions_.empty() && !changes_) {
      const std::string_view function = open_functions_.back();
      open_functions_.pop_back();
      for (WireReader reader(function); reader.Next();) {
        if (reader.field() == 3) {
          Visit(ReadNode(reader.text()).second);
        }
      }
    }
    return changes_;
  }

 private:
  void Visit(const Node& node) {
    Call(node.op);
    for (const std::string_view function : node.functions) {
      Call(function);
    }
    changes_ = changes_ || (!functions_.contains(node.op) && IsWriter(node.op));
  }

  void Call(std::string_view name) {
    if (const auto found = functions_.find(name);
        found != functions_.end() && called_.insert(name).second) {
      open_functions_.push_back(found->second);
    }
  }

  bool IsWriter(std::string_view op) {
    const auto [found, is_new] = writers_.try_emplace(op, false);
    if (is_new &&
        std::find(std::begin(kHarmless), std::end(kHarmless), op) == std::end(kHarmless)) {
      std::string op_def;
      found->second = !find_(std::string(op), &op_def);
      for (WireReader reader(op_def); reader.Next();) {
        found->second = found->second || (reader.field() == 17 && reader.number() != 0) ||
                        (reader.field() == 2 && TakesState(reader.text()));
      }
    }
    return found->second;
  }

  const FindOpDef& find_;
  std::map<std::string_view, Node> nodes_;
  std::map<std::string_view, std::string_view> functions_;  // bodies by name
  std::map<std::string_view, bool> writers_;
  std::set<std::string_view> seen_;
  std::set<std::string_view> called_;
  std::vector<std::string_view> open_functions_;
  bool changes_ = false;
};

}  // namespace

bool MayChangeState(std::string_view graph_def, const std::vector<std::string>& outputs,
                    const FindOpDef& find_op_def) {
  return Walk(graph_def, find_op_def).Changes(outputs);
}

}  // namespace nereid::tensorflow
