// SPDX-License-Identifier: Apache-2.0
// Operators that select elements by index or by size.
#include <climits>

#include "caffe2/operator.h"

namespace nereid::caffe2 {
namespace {

Error GatherOn(Operator& op, size_t axis) {
  const Value& x = op.in(0);
  const Value& indices = op.in(1);
  Shape shape(x.shape.begin(), x.shape.begin() + static_cast<int64_t>(axis));
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), x.shape.begin() + static_cast<int64_t>(axis) + 1, x.shape.end());
  op.Set(0, op.graph().Node("Gather", {&x, &indices}, x.type, std::move(shape),
                            {{"axis", static_cast<int64_t>(axis)}}));
  return {};
}

Error Gather(Operator& op) {
  size_t axis = 0;
  NEREID_BACKEND_TRY(op.ReadAxis("axis", 0, op.in(0).rank(), &axis));
  return GatherOn(op, axis);
}

Error BatchGather(Operator& op) {
  NEREID_BACKEND_TRY(op.NeedRank(0, 2));
  return GatherOn(op, 1);
}

/// Translates ArgMax and ArgMin. Of equal values, the first is taken. The result is INT64.
Error ArgMax(Operator& op) {
  const Value& x = op.in(0);
  size_t axis = 0;
  NEREID_BACKEND_TRY(op.ReadAxis("axis", -1, x.rank(), &axis));
  const bool keep = op.Flag("keepdims", true);
  Shape shape = x.shape;
  if (keep) {
    shape[axis] = 1;
  } else {
    shape.erase(shape.begin() + static_cast<int64_t>(axis));
  }
  op.Set(0, op.graph().Node(
                op.type().c_str(), {&x}, Type::kInt64, std::move(shape),
                {{"axis", static_cast<int64_t>(axis)}, {"keepdims", int64_t{keep ? 1 : 0}}}));
  return {};
}

/// Sets the third output of TopK: the indices of the values in the flattened input, as a flat
/// tensor.
Error FlatIndices(Operator& op, const Value& indices, size_t axis) {
  Graph& graph = op.graph();
  const Value& x = op.in(0);
  const int64_t size = x.shape[axis];
  const int64_t inner = Product(x.shape, axis + 1, x.rank());
  int64_t block = 0;
  if (size < 0 || inner < 0 || __builtin_mul_overflow(size, inner, &block)) {
    return op.Bad("its third output needs known sizes from the axis on, not " + ShapeText(x.shape));
  }
  const auto number = [&](int64_t value) { return graph.Ints({value}); };
  // The dimensions before the axis, k, and those after the axis.
  Shape shape = {Product(x.shape, 0, axis), indices.shape[axis], inner};
  const Value rows = graph.Ints({-1, indices.shape[axis], inner});
  if (indices.shape[axis] < 0) {
    return op.Bad("its third output needs a k that is known when the net is loaded");
  }
  const Value cut = graph.Node("Reshape", {&indices, &rows}, Type::kInt64, shape);
  const Value outer = graph.Unsqueeze(graph.Range(graph.DimOf(cut, 0)), {1, 2});
  const Value columns = graph.Range(number(inner));
  Value flat = graph.Binary("Mul", cut, number(inner));
  flat = graph.Binary("Add", flat, graph.Binary("Mul", outer, number(block)));
  flat = graph.Binary("Add", flat, columns);
  op.Set(2, graph.Reshape(flat, {NewDim{}}));
  return {};
}

Error TopK(Operator& op) {
  Graph& graph = op.graph();
  const Value& x = op.in(0);
  size_t axis = 0;
  NEREID_BACKEND_TRY(op.ReadAxis("axis", -1, x.rank(), &axis));
  int64_t known = op.Int("k", -1);
  Value k;
  if (op.inputs() > 1) {
    const auto& content = op.in(1).content;
    known = content && content->size() == 1 ? content->front() : -1;
    k = graph.Reshape(graph.Cast(op.in(1), Type::kInt64), {{1}});
  } else if (known < 1 || known > INT_MAX) {
    return op.Bad("the argument 'k' is missing or no positive number");
  } else {
    k = graph.Ints({known});
  }
  if (known > 0 && x.shape[axis] >= 0 && known > x.shape[axis]) {
    return op.Bad("k is " + std::to_string(known) + ", more than " + ShapeText(x.shape) +
                  " has along the axis");
  }
  Shape shape = x.shape;
  shape[axis] = known;
  const std::vector<Value> found =
      graph.Nodes("TopK", {&x, &k}, {{x.type, shape}, {Type::kInt64, shape}},
                  {{"axis", static_cast<int64_t>(axis)}});
  op.Set(0, found[0]);
  op.Set(1, found[1]);
  return op.Wants(2) ? FlatIndices(op, found[1], axis) : Error();
}

Error OneHot(Operator& op) {
  Graph& graph = op.graph();
  const Value depth = graph.Reshape(graph.Cast(op.in(1), Type::kInt64), {{1}});
  const Value places = graph.Range(depth);
  const Value flat = graph.Reshape(graph.Cast(op.in(0), Type::kInt64), {NewDim{}});
  const Value hits = graph.Compare("Equal", graph.Unsqueeze(flat, {1}), places);
  op.Set(0, graph.Cast(hits, Type::kFloat));
  return {};
}

}  // namespace

const Rows& SelectionRows() {
  static const Rows rows = {{"Gather", Gather, 2, 2}, {"BatchGather", BatchGather, 2, 2},
                            {"ArgMax", ArgMax},       {"ArgMin", ArgMax},
                            {"TopK", TopK, 1, 2},     {"OneHot", OneHot, 2, 2}};
  return rows;
}

}  // namespace nereid::caffe2
