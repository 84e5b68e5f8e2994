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

/// Element types, by the numbers of ONNX.
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

/// "FP32"; "an unknown type".
const char* TypeText(Type type);
/// Bytes of an element; 0 for texts.
size_t TypeSize(Type type);

/// -1 is a size that is known when the net runs.
using Shape = std::vector<int64_t>;

/// "[-1,3]"; of a shape with very many dimensions, the first ones.
std::string ShapeText(const Shape& shape);
/// A name in quotes, cut where it is very long: a file may hold names of megabytes.
std::string NameText(const std::string& name);
/// The product of all dimensions from `begin` to before `end`; -1 where one is unknown or the
/// product leaves 64 bits.
int64_t Product(const Shape& shape, size_t begin, size_t end);

/// A tensor of the graph being built. The rank is always known.
struct Value {
  std::string name;
  Type type = Type::kNone;
  Shape shape;
  /// The content, where it is known before a run, made of few integers: it may be a shape.
  std::optional<std::vector<int64_t>> content;
  /// The same for a single number of any type.
  std::optional<double> number;
  /// It depends on no input, so that ONNX Runtime computes it when it opens the graph.
  bool constant = false;

  size_t rank() const { return shape.size(); }
};

struct Attribute {
  enum class Kind { kReal = 1, kWhole = 2, kText = 3, kWholes = 7 };  // ONNX's numbers

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

/// A dimension of a reshape: a size, or -1 for that of the source's dimension `from` (from ≥ 0),
/// or -1 for what is left (from -1; at most one).
struct NewDim {
  int64_t size = -1;
  int from = -1;
};

/// An ONNX graph in the making, of the operator set kOpset. Each function adds nodes and returns
/// their result, with its type and what is known of its shape; nothing is checked here that ONNX
/// Runtime checks when it opens the graph.
class Graph {
 public:
  static constexpr int64_t kOpset = 18;

  /// `reserved`: names that only Input and Output give.
  Graph(const std::string& name, std::set<std::string> reserved);

  /// What the nodes that follow are called in ONNX Runtime's messages.
  void SetContext(std::string context) { context_ = std::move(context); }

  Value Input(const std::string& name, Type type, const Shape& shape);
  void Output(const std::string& name, const Value& value);
  /// Constants. `raw` is little-endian.
  Value Constant(Type type, const Shape& shape, std::string raw, std::string_view hint = "c");
  Value Texts(const Shape& shape, const std::vector<std::string>& texts);
  Value Ints(const std::vector<int64_t>& values);
  Value Scalar(Type type, double number);

  /// Any operator with one result, or several.
  Value Node(const char* op, const std::vector<const Value*>& inputs, Type type, Shape shape,
             const Attributes& attributes = {});
  std::vector<Value> Nodes(const char* op, const std::vector<const Value*>& inputs,
                           const std::vector<std::pair<Type, Shape>>& results,
                           const Attributes& attributes = {});

  // Of the shape of `x`.
  Value Unary(const char* op, const Value& x, const Attributes& attributes = {});
  Value Cast(const Value& x, Type to);
  // Of the shape that both broadcast to, as NumPy does.
  Value Binary(const char* op, const Value& a, const Value& b);
  Value Compare(const char* op, const Value& a, const Value& b);
  Value Where(const Value& condition, const Value& a, const Value& b);

  Value Transpose(const Value& x, const std::vector<int64_t>& axes);
  /// Swaps the last two dimensions.
  Value TransposeLast(const Value& x);
  /// The channel to dimension 1, or from there to the end. Rank ≥ 2.
  Value ToChannelsFirst(const Value& x);
  Value ToChannelsLast(const Value& x);
  Value Reshape(const Value& x, const std::vector<NewDim>& dims);
  /// To 2-D: dimensions before `axis`, and the others. axis ≤ rank.
  Value Flatten(const Value& x, size_t axis);
  /// To the shape that `like` has, which has as many elements.
  Value ReshapeLike(const Value& x, const Value& like);
  Value Unsqueeze(const Value& x, const std::vector<int64_t>& axes);
  Value Squeeze(const Value& x, const std::vector<int64_t>& axes);
  /// INT64 [rank].
  Value ShapeOf(const Value& x);
  /// INT64 [1].
  Value DimOf(const Value& x, size_t axis);
  /// All dimensions but `axis` are equal. One at least.
  Value Concat(const std::vector<Value>& parts, size_t axis);
  /// Elements first to before last, both ≥ 0, of one axis.
  Value Slice(const Value& x, size_t axis, int64_t first, int64_t last);
  /// `axes` in order; all where it is empty.
  Value Reduce(const char* op, const Value& x, const std::vector<int64_t>& axes, bool keep);
  Value MatMul(const Value& a, const Value& b);
  /// 0, 1, ... up to before `count`, which is INT64 [1].
  Value Range(const Value& count);

  /// The number of nodes so far.
  int nodes() const { return graph_.node_size(); }
  /// The bytes of the largest tensor among the nodes so far that depends on no input.
  int64_t largest_constant() const { return largest_constant_; }

  /// The serialised model; empty where it exceeds the two gigabytes of the format.
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

/// The axes from `first` to before `last`.
std::vector<int64_t> Axes(size_t first, size_t last);

}  // namespace nereid::caffe2
