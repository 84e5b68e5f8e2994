// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nereid::pytorch {

/// What the server can do with a value of a TorchScript type.
enum class ValueKind {
  kTensor,
  kInteger,           // int
  kFloat,             // float
  kBool,              // bool
  kTexts,             // List[str]
  kTensorDictionary,  // Dict[str, Tensor]
  kUnknown,           // Any, Union: the type of a value is known only at run time
  kOther,             // cannot be part of a request or response
};

/// A TorchScript type, such as "Optional[Tensor]".
struct ValueType {
  ValueKind kind = ValueKind::kOther;
  /// Whether the value may be None.
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

  /// Returns whether a call may omit the argument.
  bool can_be_left_out() const { return has_default || type.optional; }
};

/// The declared return type of forward.
struct Results {
  enum class Form {
    kOne,         // one value; `elements` holds its type
    kTuple,       // `elements` holds the types of its elements
    kList,        // a list of any length with values of type elements[0]
    kDictionary,  // a dictionary by string with values of type elements[0]
    kUnknown,     // known only at run time
  };
  Form form = Form::kUnknown;
  std::vector<ValueType> elements = {};
  /// The names of the elements of a named tuple.
  std::vector<std::string> names = {};
  std::string text = {};
};

/// The signature of a module's method forward, without self.
struct ForwardSignature {
  std::vector<Argument> arguments;
  Results results;

  /// Returns whether the only argument is a dictionary of tensors.
  bool takes_dictionary() const {
    return arguments.size() == 1 && arguments[0].type.kind == ValueKind::kTensorDictionary;
  }
  /// Returns the signature as text: "forward(x: Tensor, bias: Optional[Tensor]) -> Tensor".
  std::string Text() const;
};

}  // namespace nereid::pytorch
