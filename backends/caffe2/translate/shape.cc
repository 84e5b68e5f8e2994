// SPDX-License-Identifier: Apache-2.0
// Operators that change the shape of a tensor or the order of its dimensions, or return its shape.
#include <algorithm>

#include "caffe2/operator.h"

namespace nereid::caffe2 {
namespace {

/// Translates Reshape. In the new shape, 0 keeps a dimension and -1 takes what is left. The second
/// output is the old shape, as INT64.
Error Reshape(Operator& op) {
  Graph& graph = op.graph();
  const Value& x = op.in(0);
  std::optional<std::vector<int64_t>> target;
  if (op.inputs() > 1) {
    target = op.in(1).content;
  } else if (op.Has("shape")) {
    target = op.Ints("shape");
  } else {
    return op.Bad("it has neither a second input nor the argument 'shape'");
  }
  if (target) {
    std::vector<NewDim> dims;
    for (size_t i = 0; i < target->size(); ++i) {
      const int64_t size = (*target)[i];
      if (size < -1 || (size == 0 && i >= x.rank())) {
        return op.Bad("the new shape " + ShapeText(*target) + " does not fit " +
                      ShapeText(x.shape));
      }
      dims.push_back(size == 0 ? NewDim{-1, static_cast<int>(i)} : NewDim{size, -1});
    }
    if (std::count(target->begin(), target->end(), -1) > 1) {
      return op.Bad("the new shape " + ShapeText(*target) + " has more than one -1");
    }
    op.Set(0, graph.Reshape(x, dims));
  } else {
    const Value shape = graph.Cast(op.in(1), Type::kInt64);
    if (shape.rank() != 1 || shape.shape[0] < 0 || shape.shape[0] > 64) {
      return op.Bad("the length of its second input, the new shape, is not known");
    }
    op.Set(0, graph.Node("Reshape", {&x, &shape}, x.type,
                         Shape(static_cast<size_t>(shape.shape[0]), -1)));
  }
  if (op.Wants(1)) {
    op.Set(1, graph.ShapeOf(x));
  }
  return {};
}

Error Flatten(Operator& op) {
  size_t axis = 0;
  const size_t rank = op.in(0).rank();
  if (op.Int("axis", 1) != static_cast<int64_t>(rank)) {
    NEREID_BACKEND_TRY(op.ReadAxis("axis", 1, rank, &axis));
  } else {
    axis = rank;
  }
  op.Set(0, op.graph().Flatten(op.in(0), axis));
  return {};
}

Error FlattenToVec(Operator& op) {
  op.Set(0, op.graph().Reshape(op.in(0), {NewDim{}}));
  return {};
}

Error MergeDim(Operator& op) {
  NEREID_BACKEND_TRY(op.NeedRank(0, 2));
  const Value& x = op.in(0);
  std::vector<NewDim> dims = {{Product(x.shape, 0, 2), -1}};
  for (size_t i = 2; i < x.rank(); ++i) {
    dims.push_back({-1, static_cast<int>(i)});
  }
  op.Set(0, op.graph().Reshape(x, dims));
  return {};
}

/// Translates PrependDim: the first dimension is divided into dim_size and the rest.
Error PrependDim(Operator& op) {
  NEREID_BACKEND_TRY(op.NeedRank(0, 1));
  const Value& x = op.in(0);
  const int64_t size = op.Int("dim_size", 0);
  if (size < 1 || (x.shape[0] >= 0 && x.shape[0] % size != 0)) {
    return op.Bad("the argument 'dim_size' is " + std::to_string(size) +
                  ", which does not divide the first dimension of " + ShapeText(x.shape));
  }
  std::vector<NewDim> dims = {{size, -1}, {x.shape[0] < 0 ? -1 : x.shape[0] / size, -1}};
  for (size_t i = 1; i < x.rank(); ++i) {
    dims.push_back({-1, static_cast<int>(i)});
  }
  op.Set(0, op.graph().Reshape(x, dims));
  return {};
}

Error ExpandDims(Operator& op) {
  const char* name = op.Has("dims") ? "dims" : "axes";
  std::vector<int64_t> axes;
  NEREID_BACKEND_TRY(op.ReadAxes(name, op.in(0).rank() + op.Ints(name).size(), &axes));
  op.Set(0, op.graph().Unsqueeze(op.in(0), axes));
  return {};
}

Error Squeeze(Operator& op) {
  const Value& x = op.in(0);
  const char* name = op.Has("dims") ? "dims" : "axes";
  std::vector<int64_t> axes;
  NEREID_BACKEND_TRY(op.ReadAxes(name, x.rank(), &axes));
  for (const int64_t axis : axes) {
    if (const int64_t size = x.shape[static_cast<size_t>(axis)]; size != 1 && size != -1) {
      return op.Bad("dimension " + std::to_string(axis) + " of " + ShapeText(x.shape) +
                    " is not 1");
    }
  }
  op.Set(0, axes.empty() ? op.graph().Unary("Identity", x) : op.graph().Squeeze(x, axes));
  return {};
}

Error Transpose(Operator& op) {
  const size_t rank = op.in(0).rank();
  std::vector<int64_t> axes = op.Ints("axes");
  if (axes.empty()) {
    axes = Axes(0, rank);
    std::reverse(axes.begin(), axes.end());
  }
  std::vector<int64_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != Axes(0, rank)) {
    return op.Bad("the argument 'axes' is " + ShapeText(axes) + ", which is no order of the " +
                  std::to_string(rank) + " dimensions");
  }
  op.Set(0, op.graph().Transpose(op.in(0), axes));
  return {};
}

Error ToLast(Operator& op) {
  NEREID_BACKEND_TRY(op.NeedRank(0, 3));
  op.Set(0, op.graph().ToChannelsLast(op.in(0)));
  return {};
}

Error ToFirst(Operator& op) {
  NEREID_BACKEND_TRY(op.NeedRank(0, 3));
  op.Set(0, op.graph().ToChannelsFirst(op.in(0)));
  return {};
}

Error ShapeOf(Operator& op) {
  Graph& graph = op.graph();
  const Value shape = graph.ShapeOf(op.in(0));
  if (!op.Has("axes")) {
    op.Set(0, shape);
    return {};
  }
  std::vector<int64_t> axes;
  for (const int64_t given : op.Ints("axes")) {
    size_t axis = 0;
    NEREID_BACKEND_TRY(op.CheckAxis("axes", given, op.in(0).rank(), &axis));
    axes.push_back(static_cast<int64_t>(axis));
  }
  const Value list = graph.Ints(axes);
  op.Set(0,
         graph.Node("Gather", {&shape, &list}, Type::kInt64, {static_cast<int64_t>(axes.size())}));
  return {};
}

Error Size(Operator& op) {
  op.Set(0, op.graph().Node("Size", {&op.in(0)}, Type::kInt64, {}));
  return {};
}

Error ResizeLike(Operator& op) {
  op.Set(0, op.graph().ReshapeLike(op.in(0), op.in(1)));
  return {};
}

Error Expand(Operator& op) {
  Graph& graph = op.graph();
  const Value& x = op.in(0);
  const Value shape =
      op.inputs() > 1 ? graph.Cast(op.in(1), Type::kInt64) : graph.Ints(op.Ints("shape"));
  if (shape.rank() != 1 || shape.shape[0] < 0 || shape.shape[0] > 64) {
    return op.Bad("the length of the new shape is not known");
  }
  const auto rank = static_cast<size_t>(shape.shape[0]);
  Shape result(std::max(x.rank(), rank), -1);
  for (size_t i = 0; shape.content && i < result.size(); ++i) {  // begins with the last dimension
    const int64_t wanted = i < rank ? (*shape.content)[rank - 1 - i] : 1;
    const int64_t given = i < x.rank() ? x.shape[x.rank() - 1 - i] : 1;
    result[result.size() - 1 - i] = wanted == 1 ? given : wanted;
  }
  op.Set(0, graph.Node("Expand", {&x, &shape}, x.type, std::move(result)));
  return {};
}

}  // namespace

const Rows& ShapeRows() {
  static const Rows rows = {{"Reshape", Reshape, 1, 2},
                            {"Flatten", Flatten},
                            {"FlattenToVec", FlattenToVec},
                            {"MergeDim", MergeDim},
                            {"PrependDim", PrependDim},
                            {"ExpandDims", ExpandDims},
                            {"Unsqueeze", ExpandDims},
                            {"Squeeze", Squeeze},
                            {"Transpose", Transpose},
                            {"NCHW2NHWC", ToLast},
                            {"NHWC2NCHW", ToFirst},
                            {"Shape", ShapeOf},
                            {"Size", Size},
                            {"ResizeLike", ResizeLike, 2, 2},
                            {"Expand", Expand, 1, 2}};
  return rows;
}

}  // namespace nereid::caffe2
