// SPDX-License-Identifier: Apache-2.0
// Matrix products.
#include "caffe2/operator.h"

namespace nereid::caffe2 {
namespace {

/// Translates FC and FCTransposed. The dimensions before `axis` are rows, the others columns. The
/// weight is divided at `axis_w`.
Error FullyConnected(Operator& op) {
  Graph& graph = op.graph();
  const Value& x = op.in(0);
  NEREID_BACKEND_TRY(op.NeedRank(0, 1));
  NEREID_BACKEND_TRY(op.NeedRank(1, 2));
  size_t axis = 0;
  size_t axis_w = 0;
  if (op.Int("axis", 1) == static_cast<int64_t>(x.rank())) {
    axis = x.rank();
  } else {
    NEREID_BACKEND_TRY(op.ReadAxis("axis", 1, x.rank(), &axis));
  }
  NEREID_BACKEND_TRY(op.ReadAxis("axis_w", 1, op.in(1).rank(), &axis_w));
  const Value flat = x.rank() == 2 && axis == 1 ? x : graph.Flatten(x, axis);
  const Value w = op.in(1).rank() == 2 && axis_w == 1 ? op.in(1) : graph.Flatten(op.in(1), axis_w);
  const bool transposed = op.type() == "FCTransposed";
  const int64_t columns = w.shape[transposed ? 1 : 0];
  const Value bias = graph.Reshape(op.in(2), {NewDim{}});
  const Value y = graph.Node("Gemm", {&flat, &w, &bias}, x.type, {flat.shape[0], columns},
                             {{"transB", int64_t{transposed ? 0 : 1}}});
  if (axis == 1) {
    op.Set(0, y);
    return {};
  }
  if (axis == 0) {
    op.Set(0, graph.Squeeze(y, {0}));
    return {};
  }
  std::vector<Value> dims;
  Shape shape(x.shape.begin(), x.shape.begin() + static_cast<int64_t>(axis));
  for (size_t i = 0; i < axis; ++i) {
    dims.push_back(graph.DimOf(x, i));
  }
  dims.push_back(columns >= 0 ? graph.Ints({columns}) : graph.DimOf(y, 1));
  shape.push_back(columns);
  const Value target = graph.Concat(dims, 0);
  op.Set(0, graph.Node("Reshape", {&y, &target}, x.type, std::move(shape)));
  return {};
}

/// Translates MatMul: a product of two matrices, which are the inputs divided at `axis_a` and
/// `axis_b`.
Error MatMul(Operator& op) {
  size_t axes[2] = {0, 0};
  Value sides[2];
  const char* names[2] = {"axis_a", "axis_b"};
  const char* turns[2] = {"trans_a", "trans_b"};
  for (size_t i = 0; i < 2; ++i) {
    NEREID_BACKEND_TRY(op.NeedRank(i, 1));
    NEREID_BACKEND_TRY(op.ReadAxis(names[i], 1, op.in(i).rank(), &axes[i]));
    sides[i] =
        op.in(i).rank() == 2 && axes[i] == 1 ? op.in(i) : op.graph().Flatten(op.in(i), axes[i]);
    if (op.Flag(turns[i])) {
      sides[i] = op.graph().TransposeLast(sides[i]);
    }
  }
  op.Set(0, op.graph().MatMul(sides[0], sides[1]));
  return {};
}

Error BatchMatMul(Operator& op) {
  const bool turns[2] = {op.Flag("trans_a"), op.Flag("trans_b")};
  Value sides[2];
  for (size_t i = 0; i < 2; ++i) {
    NEREID_BACKEND_TRY(op.NeedRank(i, op.Flag("broadcast") ? 1 : 2));
    sides[i] = turns[i] && op.in(i).rank() >= 2 ? op.graph().TransposeLast(op.in(i)) : op.in(i);
  }
  op.Set(0, op.graph().MatMul(sides[0], sides[1]));
  return {};
}

/// Translates ElementwiseLinear: each column is multiplied by a number and another is added.
/// Columns are the dimensions from `axis` on.
Error ElementwiseLinear(Operator& op) {
  Graph& graph = op.graph();
  const Value& x = op.in(0);
  NEREID_BACKEND_TRY(op.NeedRank(0, 1));
  size_t axis = 0;
  NEREID_BACKEND_TRY(op.ReadAxis("axis", 1, x.rank(), &axis));
  const Value flat = graph.Flatten(x, axis);
  const Value w = graph.Reshape(op.in(1), {NewDim{}});
  const Value b = graph.Reshape(op.in(2), {NewDim{}});
  const Value y = graph.Binary("Add", graph.Binary("Mul", flat, w), b);
  op.Set(0, graph.ReshapeLike(y, x));
  return {};
}

Value RowSums(Graph& graph, const Value& x) {
  return graph.Reduce("ReduceSum", graph.Flatten(x, 1), {1}, false);
}

Error DotProduct(Operator& op) {
  NEREID_BACKEND_TRY(op.NeedRank(0, 1));
  const Value product = op.graph().Binary("Mul", op.in(0), op.in(1));
  op.Set(0, op.in(0).rank() == 1 ? product : RowSums(op.graph(), product));
  return {};
}

Error SquaredL2Distance(Operator& op) {
  NEREID_BACKEND_TRY(op.NeedRank(0, 1));
  Graph& graph = op.graph();
  const Value difference = graph.Binary("Sub", op.in(0), op.in(1));
  const Value square = graph.Binary("Mul", difference, difference);
  const Value sums = op.in(0).rank() == 1 ? square : RowSums(graph, square);
  op.Set(0, graph.Binary("Mul", sums, graph.Scalar(sums.type, 0.5)));
  return {};
}

}  // namespace

const Rows& MatrixRows() {
  static const Rows rows = {{"FC", FullyConnected, 3, 3},
                            {"FCTransposed", FullyConnected, 3, 3},
                            {"MatMul", MatMul, 2, 2},
                            {"BatchMatMul", BatchMatMul, 2, 2},
                            {"ElementwiseLinear", ElementwiseLinear, 3, 3},
                            {"DotProduct", DotProduct, 2, 2},
                            {"SquaredL2Distance", SquaredL2Distance, 2, 2}};
  return rows;
}

}  // namespace nereid::caffe2
