// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/graph_check.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "framework/printable.h"
#include "tensorflow/wire.h"

namespace nereid::tensorflow {
namespace {

// Field numbers in TensorFlow's protobuf files. GraphDef: node = 1, library = 2;
// FunctionDefLibrary.function = 1; FunctionDef: signature = 1, node_def = 3; NodeDef: name = 1, op
// = 2, input = 3, attr = 5 (a map: key = 1, value = 2); AttrValue: list = 1, s = 2, i = 3, type =
// 6, tensor = 8, placeholder = 9, func = 10; ListValue: type = 6, tensor = 8; NameAttrList.name =
// 1; TensorProto: dtype = 1, tensor_shape = 2; TensorShapeProto.dim = 2; Dim.size = 1; OpDef: name
// = 1, input_arg = 2, output_arg = 3; ArgDef.number_attr = 5.

/// The largest number of elements of a constant that a file may declare without containing them:
/// TensorFlow repeats the last value. Strings take more memory each.
constexpr int64_t kMaxFilled = int64_t{1} << 28;
constexpr int64_t kMaxFilledTexts = int64_t{1} << 22;
constexpr uint64_t kTextType = 7;  // DT_STRING
/// The largest number of outputs in a list whose length an attribute gives.
constexpr int64_t kMaxOutputs = 1 << 20;

/// The attributes of an operation that count its inputs or outputs.
struct Counts {
  std::vector<std::string> of_inputs;
  std::vector<std::string> of_outputs;
};

std::string Shown(std::string_view name) { return framework::Printable(name, 200); }

std::string_view LastText(std::string_view message, uint32_t field) {
  std::string_view text;
  for (WireReader reader(message); reader.Next();) {
    text = reader.field() == field ? reader.text() : text;
  }
  return text;
}

std::string ReadText(std::string_view message, uint32_t field) {
  return std::string(LastText(message, field));
}

uint64_t ReadNumber(std::string_view message, uint32_t field) {
  uint64_t number = 0;
  for (WireReader reader(message); reader.Next();) {
    number = reader.field() == field ? reader.number() : number;
  }
  return number;
}

Counts ReadCounts(std::string_view op_def) {
  Counts counts;
  for (WireReader reader(op_def); reader.Next();) {
    if (reader.field() == 2 || reader.field() == 3) {
      if (std::string attribute = ReadText(reader.text(), 5); !attribute.empty()) {
        (reader.field() == 2 ? counts.of_inputs : counts.of_outputs)
            .push_back(std::move(attribute));
      }
    }
  }
  return counts;
}

/// The signature of a function in the graph's library.
struct Function {
  size_t arguments = 0;
  size_t results = 0;
  /// Whether an argument or result stands for several tensors (ArgDef: number_attr = 5,
  /// type_list_attr = 6).
  bool has_lists = false;
};

struct Node {
  std::string name;
  std::string op;
  /// The number of data inputs; control inputs ("^name") are not counted.
  int64_t inputs = 0;
  std::map<std::string, std::string_view> attributes;
};

Node ReadNode(std::string_view bytes) {
  Node node;
  for (WireReader reader(bytes); reader.Next();) {
    if (reader.field() == 1) {
      node.name = reader.text();
    } else if (reader.field() == 2) {
      node.op = reader.text();
    } else if (reader.field() == 3) {
      node.inputs += reader.text().starts_with('^') ? 0 : 1;
    } else if (reader.field() == 5) {
      std::string key;
      std::string_view value;
      for (WireReader entry(reader.text()); entry.Next();) {
        if (entry.field() == 1) {
          key = entry.text();
        } else if (entry.field() == 2) {
          value = entry.text();
        }
      }
      node.attributes[key] = value;
    }
  }
  return node;
}

/// Returns whether a tensor may have this shape. TensorFlow refuses unknown ranks and dimensions
/// itself.
bool ShapeIsPossible(std::string_view tensor_shape, int64_t most) {
  int64_t elements = 1;
  for (WireReader reader(tensor_shape); reader.Next();) {
    if (reader.field() != 2) {
      continue;
    }
    int64_t size = 0;
    for (WireReader dim(reader.text()); dim.Next();) {
      size = dim.field() == 1 ? dim.signed_number() : size;
    }
    if (size < 0 || __builtin_mul_overflow(elements, size, &elements) || elements > most) {
      return false;
    }
  }
  return true;
}

class Checker {
 public:
  Checker(const std::string& what, const FindOpDef& find) : what_(what), find_(find) {}

  Error Check(std::string_view graph_def) {
    for (WireReader reader(graph_def); reader.Next();) {
      if (reader.field() == 2) {
        for (WireReader library(reader.text()); library.Next();) {
          if (library.field() == 1) {
            AddFunction(library.text());
          }
        }
      }
    }
    for (WireReader reader(graph_def); reader.Next();) {
      if (reader.field() == 1) {
        NEREID_BACKEND_TRY(CheckNode(reader.text(), false));
      } else if (reader.field() == 2) {
        NEREID_BACKEND_TRY(CheckLibrary(reader.text()));
      }
    }
    return {};
  }

 private:
  void AddFunction(std::string_view function) {
    const std::string_view signature = LastText(function, 1);
    Function found;
    for (WireReader reader(signature); reader.Next();) {
      if (reader.field() == 2 || reader.field() == 3) {
        (reader.field() == 2 ? found.arguments : found.results) += 1;
        const std::string_view argument = reader.text();
        found.has_lists =
            found.has_lists || !LastText(argument, 5).empty() || !LastText(argument, 6).empty();
      }
    }
    functions_[ReadText(signature, 1)] = found;
  }

  Error CheckLibrary(std::string_view library) {
    for (WireReader reader(library); reader.Next();) {
      if (reader.field() != 1) {
        continue;
      }
      for (WireReader function(reader.text()); function.Next();) {
        if (function.field() == 3) {
          NEREID_BACKEND_TRY(CheckNode(function.text(), true));
        }
      }
    }
    return {};
  }

  Error Bad(const Node& node, const std::string& text) const {
    return Error::InvalidArgument(what_ + ": node '" + Shown(node.name) + "' (" + Shown(node.op) +
                                  ") " + text);
  }

  Error CheckNode(std::string_view bytes, bool in_function) {
    const Node node = ReadNode(bytes);
    const Counts* counts = FindCounts(node.op);
    if (counts == nullptr) {
      return Error::Unsupported(what_ + ": node '" + Shown(node.name) + "' is of the operation '" +
                                Shown(node.op) + "', which this TensorFlow does not have");
    }
    for (const auto& [name, value] : node.attributes) {
      NEREID_BACKEND_TRY(CheckAttribute(node, name, value, in_function));
    }
    NEREID_BACKEND_TRY(CheckConstant(node));
    NEREID_BACKEND_TRY(CheckCall(node));
    NEREID_BACKEND_TRY(CheckCounts(node, counts->of_inputs, node.inputs, "inputs"));
    return CheckCounts(node, counts->of_outputs, kMaxOutputs, "outputs");
  }

  /// Returns null if neither TensorFlow nor the graph's library has the operation.
  const Counts* FindCounts(const std::string& op) {
    auto [found, is_new] = counts_.try_emplace(op);
    if (is_new && !functions_.contains(op)) {
      std::string op_def;
      if (!find_(op, &op_def)) {
        counts_.erase(found);
        return nullptr;
      }
      found->second = ReadCounts(op_def);
    }
    return &found->second;
  }

  Error CheckAttribute(const Node& node, const std::string& name, std::string_view value,
                       bool in_function) const {
    for (WireReader reader(value); reader.Next();) {
      if (reader.field() == 9 && !in_function) {
        return Bad(node, "has no value for its attribute '" + Shown(name) + "'");
      }
      if (reader.field() == 8) {
        NEREID_BACKEND_TRY(CheckTensor(node, name, reader.text()));
      } else if (reader.field() == 1) {
        for (WireReader list(reader.text()); list.Next();) {
          if (list.field() == 8) {
            NEREID_BACKEND_TRY(CheckTensor(node, name, list.text()));
          }
        }
      }
    }
    return {};
  }

  /// Checks that the tensor of a constant has the type of its node.
  Error CheckConstant(const Node& node) const {
    const auto type = node.attributes.find("dtype");
    const auto value = node.attributes.find("value");
    if (node.op != "Const" || type == node.attributes.end() || value == node.attributes.end()) {
      return {};
    }
    const uint64_t declared = ReadNumber(type->second, 6);
    for (WireReader reader(value->second); reader.Next();) {
      if (reader.field() == 8 && ReadNumber(reader.text(), 1) != declared) {
        return Bad(node, "holds a tensor that is not of its type");
      }
    }
    return {};
  }

  /// Checks that a call has the arguments and results of its function.
  Error CheckCall(const Node& node) const {
    if (node.op != "PartitionedCall" && node.op != "StatefulPartitionedCall") {
      return {};
    }
    const auto called = node.attributes.find("f");
    const std::string name =
        called == node.attributes.end() ? "" : ReadText(LastText(called->second, 10), 1);
    const auto function = functions_.find(name);
    if (function == functions_.end()) {
      return Bad(node, "calls the function '" + Shown(name) + "', which the graph lacks");
    }
    const Function& known = function->second;
    if (!known.has_lists &&
        (TypeCount(node, "Tin") != known.arguments || TypeCount(node, "Tout") != known.results)) {
      return Bad(node, "does not fit the function '" + Shown(name) + "', which has " +
                           std::to_string(known.arguments) + " arguments and " +
                           std::to_string(known.results) + " results");
    }
    return {};
  }

  /// Returns the length of a list of types.
  static size_t TypeCount(const Node& node, const std::string& attribute) {
    const auto found = node.attributes.find(attribute);
    size_t count = 0;
    if (found == node.attributes.end()) {
      return count;
    }
    for (WireReader list(LastText(found->second, 1)); list.Next();) {
      if (list.field() == 6) {
        count += list.text().empty() ? 1 : PackedCount(list.text());
      }
    }
    return count;
  }

  /// Returns how many varints are packed into one field. Each ends with a byte below 128.
  static size_t PackedCount(std::string_view packed) {
    return static_cast<size_t>(std::count_if(
        packed.begin(), packed.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  }

  Error CheckTensor(const Node& node, const std::string& name, std::string_view tensor) const {
    const int64_t filled = ReadNumber(tensor, 1) == kTextType ? kMaxFilledTexts : kMaxFilled;
    const int64_t most = std::max(filled, static_cast<int64_t>(tensor.size()));
    for (WireReader reader(tensor); reader.Next();) {
      if (reader.field() == 2 && !ShapeIsPossible(reader.text(), most)) {
        return Bad(node,
                   "holds a tensor of impossible shape in its attribute '" + Shown(name) + "'");
      }
    }
    return {};
  }

  Error CheckCounts(const Node& node, const std::vector<std::string>& names, int64_t most,
                    const std::string& kind) const {
    for (const std::string& name : names) {
      const auto found = node.attributes.find(name);
      if (found == node.attributes.end()) {
        continue;
      }
      for (WireReader reader(found->second); reader.Next();) {
        if (reader.field() == 3 && (reader.signed_number() < 0 || reader.signed_number() > most)) {
          return Bad(node, "counts " + std::to_string(reader.signed_number()) + " " + kind +
                               " in its attribute '" + Shown(name) + "', more than the " +
                               std::to_string(most) + " that can be");
        }
      }
    }
    return {};
  }

  const std::string& what_;
  const FindOpDef& find_;
  std::map<std::string, Function> functions_;  // the functions in the graph's library
  std::map<std::string, Counts> counts_;
};

}  // namespace

Error CheckGraphDef(std::string_view graph_def, const std::string& what,
                    const FindOpDef& find_op_def) {
  return Checker(what, find_op_def).Check(graph_def);
}

}  // namespace nereid::tensorflow
