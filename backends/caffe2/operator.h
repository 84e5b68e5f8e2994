// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2/graph.h"
#include "caffe2_net.pb.h"
#include "nereid/backend/error.h"

namespace nereid::caffe2 {

using backend::Error;

/// Describes an operator for messages: "operator Conv of output 'y'", "operator Print of input
/// 'x'".
std::string OperatorText(const caffe2_net::OperatorDef& def);

/// An operator of a net during translation: its arguments, its inputs (at least as many as its row
/// in the table requires) and its results. An output that the operator does not set does not exist
/// for later operators.
class Operator {
 public:
  /// All arguments must outlive the object. `room` is the number of bytes that fill operators may
  /// still generate.
  Operator(const caffe2_net::OperatorDef& def, std::vector<Value> inputs, Graph* graph,
           int64_t* room);

  const std::string& type() const { return def_.type(); }
  Graph& graph() const { return graph_; }
  size_t inputs() const { return inputs_.size(); }
  const Value& in(size_t i) const { return inputs_[i]; }
  /// Returns whether all inputs are known when ONNX Runtime opens the graph.
  bool constant() const;
  size_t outputs() const { return outputs_.size(); }
  const std::vector<std::optional<Value>>& results() const { return outputs_; }

  /// Sets output `i`. Does nothing if the net has no such output.
  void Set(size_t i, Value value);
  bool Wants(size_t i) const { return i < outputs_.size(); }

  /// Returns INVALID_ARG with a description of this operator before `reason`.
  Error Bad(const std::string& reason) const;

  // Accessors of arguments. If several have the same name, the last one is used.
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  const caffe2_net::Argument* Find(std::string_view name) const;
  int64_t Int(std::string_view name, int64_t otherwise) const;
  bool Flag(std::string_view name, bool otherwise = false) const {
    return Int(name, otherwise ? 1 : 0) != 0;
  }
  float Float(std::string_view name, float otherwise) const;
  std::string Text(std::string_view name, std::string_view otherwise) const;
  std::vector<int64_t> Ints(std::string_view name) const;

  /// Reads the argument `order`: true for NHWC, false for NCHW. Fails for other values.
  Error ReadOrder(bool* channels_last) const;
  /// Reads an axis of a tensor with `rank` dimensions. Negative axes count from the end. Fails if
  /// the tensor has no such axis.
  Error ReadAxis(std::string_view name, int64_t otherwise, size_t rank, size_t* axis) const;
  Error CheckAxis(std::string_view name, int64_t given, size_t rank, size_t* axis) const;
  /// Reads a list of different axes and sorts it.
  Error ReadAxes(std::string_view name, size_t rank, std::vector<int64_t>* axes) const;
  /// Fails unless input `i` has at least `least` dimensions.
  Error NeedRank(size_t i, size_t least) const;
  /// Subtracts `bytes` from the bytes that fill operators may generate. Fails if there are too few.
  Error Take(int64_t bytes) const;

 private:
  const caffe2_net::OperatorDef& def_;
  const std::vector<Value> inputs_;
  std::vector<std::optional<Value>> outputs_;
  Graph& graph_;
  int64_t& room_;
};

using Translate = Error (*)(Operator& op);

/// A row of the table of operators.
struct OperatorRow {
  const char* type;
  Translate translate;
  size_t least_inputs = 1;
  size_t most_inputs = 1;
};

/// Returns the row of an operator, or null if it is not supported.
const OperatorRow* FindOperator(std::string_view type);

/// The rows of each family of operators (directory translate/).
using Rows = std::vector<OperatorRow>;
const Rows& ArithmeticRows();
const Rows& ActivationRows();
const Rows& CastRows();
const Rows& ConvolutionRows();
const Rows& FillRows();
const Rows& ImageRows();
const Rows& JoinRows();
const Rows& MatrixRows();
const Rows& NormalizationRows();
const Rows& PoolingRows();
const Rows& ReductionRows();
const Rows& SelectionRows();
const Rows& ShapeRows();

std::vector<const Rows*> AllRows();

}  // namespace nereid::caffe2
