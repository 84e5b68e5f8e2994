// SPDX-License-Identifier: Apache-2.0
#include <cfloat>

#include "caffe2/operator.h"

namespace nereid::caffe2 {
namespace {

/// Translates ReduceSum and similar operators, over `axes` or over all axes.
Error Reduce(Operator& op) {
  std::vector<int64_t> axes;
  NEREID_BACKEND_TRY(op.ReadAxes("axes", op.in(0).rank(), &axes));
  op.Set(0, op.graph().Reduce(op.type().c_str(), op.in(0), axes, op.Flag("keepdims", true)));
  return {};
}

/// Replaces the elements of `x` that a reduction must ignore by `neutral`. `x` is 2-D. The second
/// input holds the length of each row (`back`) or column.
Value Masked(Operator& op, const Value& x, bool back, double neutral) {
  Graph& graph = op.graph();
  const Value lengths = graph.Cast(op.in(1), Type::kInt64);
  const Value places = graph.Range(graph.DimOf(x, back ? 1 : 0));
  const Value counts = back ? graph.Compare("Less", places, graph.Unsqueeze(lengths, {1}))
                            : graph.Compare("Less", graph.Unsqueeze(places, {1}), lengths);
  return graph.Where(counts, x, graph.Scalar(x.type, neutral));
}

/// Translates ReduceFrontSum, ReduceBackMax and so on: reductions of the first or last
/// num_reduce_dim dimensions.
Error ReduceEnd(Operator& op) {
  Graph& graph = op.graph();
  const Value& x = op.in(0);
  const int64_t count = op.Int("num_reduce_dim", 1);
  if (count < 0 || count > static_cast<int64_t>(x.rank())) {
    return op.Bad("the argument 'num_reduce_dim' is " + std::to_string(count) + " for " +
                  ShapeText(x.shape));
  }
  const bool back = op.type().starts_with("ReduceBack");
  const std::string kind =
      op.type().substr(op.type().size() - (op.type().ends_with("Mean") ? 4 : 3));
  const std::string name = "Reduce" + kind;
  const size_t reduced = static_cast<size_t>(count);
  const size_t first = back ? x.rank() - reduced : 0;
  const std::vector<int64_t> axes = Axes(first, first + reduced);
  if (axes.empty()) {
    op.Set(0, graph.Unary("Identity", x));
    return {};
  }
  if (op.inputs() == 1) {
    op.Set(0, graph.Reduce(name.c_str(), x, axes, false));
    return {};
  }
  if (op.in(1).rank() != 1) {
    return op.Bad("its second input, the lengths, must have one dimension");
  }
  const Value flat = graph.Flatten(x, back ? first : reduced);
  Value y = Masked(op, flat, back, kind == "Max" ? -FLT_MAX : 0);
  y = graph.Reduce(kind == "Max" ? "ReduceMax" : "ReduceSum", y, {back ? 1 : 0}, false);
  if (kind == "Mean") {
    y = graph.Binary("Div", y, graph.Cast(op.in(1), x.type));
  }
  std::vector<Value> dims;
  Shape shape;
  for (size_t i = back ? 0 : reduced; i < (back ? first : x.rank()); ++i) {
    dims.push_back(graph.DimOf(x, i));
    shape.push_back(x.shape[i]);
  }
  if (dims.empty()) {
    op.Set(0, graph.Squeeze(y, {0}));
  } else if (dims.size() == 1) {
    op.Set(0, y);
  } else {
    const Value target = graph.Concat(dims, 0);
    op.Set(0, graph.Node("Reshape", {&y, &target}, x.type, std::move(shape)));
  }
  return {};
}

Error SumElements(Operator& op) {
  op.Set(0,
         op.graph().Reduce(op.Flag("average") ? "ReduceMean" : "ReduceSum", op.in(0), {}, false));
  return {};
}

Error SumSqrElements(Operator& op) {
  const Value square = op.graph().Binary("Mul", op.in(0), op.in(0));
  op.Set(0, op.graph().Reduce(op.Flag("average") ? "ReduceMean" : "ReduceSum", square, {}, false));
  return {};
}

/// Translates RowwiseMax and ColwiseMax on the matrices in the last two dimensions.
Error RowwiseMax(Operator& op) {
  NEREID_BACKEND_TRY(op.NeedRank(0, 2));
  const auto rank = static_cast<int64_t>(op.in(0).rank());
  const int64_t axis = op.type() == "RowwiseMax" ? rank - 1 : rank - 2;
  op.Set(0, op.graph().Reduce("ReduceMax", op.in(0), {axis}, false));
  return {};
}

}  // namespace

const Rows& ReductionRows() {
  static const Rows rows = {{"ReduceSum", Reduce},
                            {"ReduceMean", Reduce},
                            {"ReduceMax", Reduce},
                            {"ReduceMin", Reduce},
                            {"ReduceL1", Reduce},
                            {"ReduceL2", Reduce},
                            {"ReduceFrontSum", ReduceEnd, 1, 2},
                            {"ReduceFrontMean", ReduceEnd, 1, 2},
                            {"ReduceFrontMax", ReduceEnd, 1, 2},
                            {"ReduceBackSum", ReduceEnd, 1, 2},
                            {"ReduceBackMean", ReduceEnd, 1, 2},
                            {"ReduceBackMax", ReduceEnd, 1, 2},
                            {"SumElements", SumElements},
                            {"SumSqrElements", SumSqrElements},
                            {"RowwiseMax", RowwiseMax},
                            {"ColwiseMax", RowwiseMax}};
  return rows;
}

}  // namespace nereid::caffe2
