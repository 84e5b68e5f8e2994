// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nereid::pytorch {

/// What a value of TorchScript can be to the server.
enum class ValueKind {
  kTensor,
  kInteger,           // int
  kFloat,             // float
  kBool,              // bool
  kTexts,             // List[str]
  kTensorDictionary,  // Dict[str, Tensor]
  kUnknown,           // Any, Union: seen only when it is there
  kOther,             // nothing that a request or a response can carry
};

/// A type of TorchScript: "Optional[Tensor]".
struct ValueType {
  ValueKind kind = ValueKind::kOther;
  /// None is a value of it.
  bool optional = false;
  std::string text = {};

  bool number() const {
    return kind == ValueKind::kInteger || kind == ValueKind::kFloat || kind == ValueKind::kBool;
  }
};

struct Argument {
  std::string name;
  ValueType type = {};
  bool has_default = false;

  /// A call may leave it out.
  bool can_be_left_out() const { return has_default || type.optional; }
};

/// What forward returns, as far as it says.
struct Results {
  enum class Form {
    kOne,         // `elements` is that one
    kTuple,       // `elements` are its elements
    kList,        // a list of values of the type elements[0], of any length
    kDictionary,  // by text; its values are of the type elements[0]
    kUnknown,     // seen only when it is there
  };
  Form form = Form::kUnknown;
  std::vector<ValueType> elements = {};
  /// The names of a named tuple's elements.
  std::vector<std::string> names = {};
  std::string text = {};
};

/// The signature of a module's forward, without self.
struct ForwardSignature {
  std::vector<Argument> arguments;
  Results results;

  /// The only argument is a dictionary of tensors.
  bool takes_dictionary() const {
    return arguments.size() == 1 && arguments[0].type.kind == ValueKind::kTensorDictionary;
  }
  /// "forward(x: Tensor, bias: Optional[Tensor]) -> Tensor"
  std::string Text() const;
};

}  // namespace nereid::pytorch
