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

/// "operator Conv of output 'y'", "operator Print of input 'x'"
std::string OperatorText(const caffe2_net::OperatorDef& def);

/// One operator of a net while it is translated: its arguments, its inputs (as many as its row of
/// the table asks for at least), and where its outputs go. An output that the operator leaves
/// unset does not exist for the operators that follow.
class Operator {
 public:
  /// All live longer. `room`: bytes that fills may still make up, which are not in a file.
  Operator(const caffe2_net::OperatorDef& def, std::vector<Value> inputs, Graph* graph,
           int64_t* room);

  const std::string& type() const { return def_.type(); }
  Graph& graph() const { return graph_; }
  size_t inputs() const { return inputs_.size(); }
  const Value& in(size_t i) const { return inputs_[i]; }
  /// All inputs are known when ONNX Runtime opens the graph.
  bool constant() const;
  size_t outputs() const { return outputs_.size(); }
  const std::vector<std::optional<Value>>& results() const { return outputs_; }

  /// Sets output `i`; does nothing where the net does not name one.
  void Set(size_t i, Value value);
  bool Wants(size_t i) const { return i < outputs_.size(); }

  /// A failure that names this operator.
  Error Bad(const std::string& reason) const;

  // Arguments. The last of several of the same name counts.
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  const caffe2_net::Argument* Find(std::string_view name) const;
  int64_t Int(std::string_view name, int64_t otherwise) const;
  bool Flag(std::string_view name, bool otherwise = false) const {
    return Int(name, otherwise ? 1 : 0) != 0;
  }
  float Float(std::string_view name, float otherwise) const;
  std::string Text(std::string_view name, std::string_view otherwise) const;
  std::vector<int64_t> Ints(std::string_view name) const;

  /// Whether the argument `order` is NHWC; any value but that and NCHW fails.
  Error ReadOrder(bool* channels_last) const;
  /// An axis of a tensor of `rank` dimensions; negative ones count from the end. `limit` is one
  /// above the largest axis, rank where not given.
  Error ReadAxis(std::string_view name, int64_t otherwise, size_t rank, size_t* axis) const;
  Error CheckAxis(std::string_view name, int64_t given, size_t rank, size_t* axis) const;
  /// A list of different axes, sorted.
  Error ReadAxes(std::string_view name, size_t rank, std::vector<int64_t>* axes) const;
  /// Fails unless input `i` has at least `least` dimensions.
  Error NeedRank(size_t i, size_t least) const;
  /// Takes `bytes` from what fills may make up.
  Error Take(int64_t bytes) const;

 private:
  const caffe2_net::OperatorDef& def_;
  const std::vector<Value> inputs_;
  std::vector<std::optional<Value>> outputs_;
  Graph& graph_;
  int64_t& room_;
};

using Translate = Error (*)(Operator& op);

/// What the table knows of an operator.
struct OperatorRow {
  const char* type;
  Translate translate;
  size_t least_inputs = 1;
  size_t most_inputs = 1;
};

/// Null for an operator that the table lacks.
const OperatorRow* FindOperator(std::string_view type);

/// The families, each a list of rows (translate/).
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
