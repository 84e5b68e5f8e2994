// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx_graph.pb.h"

namespace nereid::caffe2 {

/// Element types. The values are those of ONNX (TensorProto.DataType).
enum class Type : int32_t {
  kNone = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kHalf = 10,
  kDouble = 11,
};

/// Returns a type's name such as "FP32", or "an unknown type".
const char* TypeText(Type type);
/// Returns the size of an element in bytes; 0 for strings and unknown types.
size_t TypeSize(Type type);

/// Dimensions; -1 for a size that is known only when the net runs.
using Shape = std::vector<int64_t>;

/// Returns a shape as text, such as "[-1,3]". Very long shapes are shortened.
std::string ShapeText(const Shape& shape);
/// Returns a name in quotes, shortened if it is very long, because names in a file may have
/// megabytes.
std::string NameText(const std::string& name);
/// Returns the product of the dimensions from `begin` up to, but not including, `end`; -1 if one is
/// unknown or the product exceeds 64 bits.
int64_t Product(const Shape& shape, size_t begin, size_t end);

/// A tensor of the graph. Its rank is always known.
struct Value {
  std::string name;
  Type type = Type::kNone;
  Shape shape;
  /// The content, if it is known at load time and consists of few integers, because it may be a
  /// shape.
  std::optional<std::vector<int64_t>> content;
  /// The content, if it is known at load time and is a single number of any type.
  std::optional<double> number;
  /// Whether the tensor depends on no input, so that ONNX Runtime computes it when it opens the
  /// graph.
  bool constant = false;

  size_t rank() const { return shape.size(); }
};

struct Attribute {
  // The values are those of ONNX.
  enum class Kind { kReal = 1, kWhole = 2, kText = 3, kWholes = 7 };

  Attribute(const char* attribute, int64_t value)
      : name(attribute), kind(Kind::kWhole), whole(value) {}
  Attribute(const char* attribute, float value) : name(attribute), kind(Kind::kReal), real(value) {}
  Attribute(const char* attribute, std::string value)
      : name(attribute), kind(Kind::kText), text(std::move(value)) {}
  Attribute(const char* attribute, std::vector<int64_t> value)
      : name(attribute), kind(Kind::kWholes), wholes(std::move(value)) {}

  const char* name;
  Kind kind;
  int64_t whole = 0;
  float real = 0;
  std::string text;
  std::vector<int64_t> wholes;
};
using Attributes = std::vector<Attribute>;

/// A dimension of a reshape. `size` is its size. With a size of -1, `from` >= 0 takes the size of
/// that dimension of the source, and `from` = -1 takes what is left (at most one dimension).
struct NewDim {
  int64_t size = -1;
  int from = -1;
};

/// Builds an ONNX graph of operator set kOpset. Each function adds nodes and returns their result,
/// with its type and the known part of its shape. ONNX Runtime checks the graph when it opens it,
/// so the same checks are not made here.
class Graph {
 public:
  static constexpr int64_t kOpset = 18;

  /// `reserved` are the names of inputs and outputs, which no other value may have.
  Graph(const std::string& name, std::set<std::string> reserved);

  /// Sets the name of the following nodes in ONNX Runtime's messages.
  void SetContext(std::string context) { context_ = std::move(context); }

  Value Input(const std::string& name, Type type, const Shape& shape);
  void Output(const std::string& name, const Value& value);
  /// Add constants. `raw` is little-endian.
  Value Constant(Type type, const Shape& shape, std::string raw, std::string_view hint = "c");
  Value Texts(const Shape& shape, const std::vector<std::string>& texts);
  Value Ints(const std::vector<int64_t>& values);
  Value Scalar(Type type, double number);

  /// Add any operator with one result (Node) or several (Nodes). A null input is omitted.
  Value Node(const char* op, const std::vector<const Value*>& inputs, Type type, Shape shape,
             const Attributes& attributes = {});
  std::vector<Value> Nodes(const char* op, const std::vector<const Value*>& inputs,
                           const std::vector<std::pair<Type, Shape>>& results,
                           const Attributes& attributes = {});

  // The result has the shape of `x`.
  Value Unary(const char* op, const Value& x, const Attributes& attributes = {});
  Value Cast(const Value& x, Type to);
  // The result has the shape to which both operands broadcast, as in NumPy.
  Value Binary(const char* op, const Value& a, const Value& b);
  Value Compare(const char* op, const Value& a, const Value& b);
  Value Where(const Value& condition, const Value& a, const Value& b);

  Value Transpose(const Value& x, const std::vector<int64_t>& axes);
  /// Swaps the last two dimensions.
  Value TransposeLast(const Value& x);
  /// Move the channels from the last dimension to dimension 1, or back. The rank is at least 2.
  Value ToChannelsFirst(const Value& x);
  Value ToChannelsLast(const Value& x);
  Value Reshape(const Value& x, const std::vector<NewDim>& dims);
  /// Reshapes to two dimensions: those before `axis`, and the rest. `axis` is at most the rank.
  Value Flatten(const Value& x, size_t axis);
  /// Reshapes to the shape of `like`, which must have the same number of elements.
  Value ReshapeLike(const Value& x, const Value& like);
  Value Unsqueeze(const Value& x, const std::vector<int64_t>& axes);
  Value Squeeze(const Value& x, const std::vector<int64_t>& axes);
  /// Returns the shape as INT64 [rank].
  Value ShapeOf(const Value& x);
  /// Returns one dimension as INT64 [1].
  Value DimOf(const Value& x, size_t axis);
  /// Concatenates at least one part. All dimensions except `axis` must be equal.
  Value Concat(const std::vector<Value>& parts, size_t axis);
  /// Returns the elements from `first` up to, but not including, `last` of one axis. Both are >= 0.
  Value Slice(const Value& x, size_t axis, int64_t first, int64_t last);
  /// Reduces `axes`, which are in order; all axes if it is empty.
  Value Reduce(const char* op, const Value& x, const std::vector<int64_t>& axes, bool keep);
  Value MatMul(const Value& a, const Value& b);
  /// Returns 0, 1, ... up to, but not including, `count`, which is INT64 [1].
  Value Range(const Value& count);

  /// Returns the number of nodes so far.
  int nodes() const { return graph_.node_size(); }
  /// Returns the size in bytes of the largest tensor so far that a node computes and that depends
  /// on no input.
  int64_t largest_constant() const { return largest_constant_; }

  /// Returns the serialized model; empty if it exceeds the format's limit of two gigabytes.
  std::string Serialize() const;

 private:
  std::string Fresh(std::string_view hint);

  onnx_graph::Model model_;
  onnx_graph::Graph& graph_;
  const std::set<std::string> reserved_;
  std::string context_;
  uint64_t counter_ = 0;
  int64_t largest_constant_ = 0;
};

/// Returns the axes from `first` up to, but not including, `last`.
std::vector<int64_t> Axes(size_t first, size_t last);

}  // namespace nereid::caffe2
