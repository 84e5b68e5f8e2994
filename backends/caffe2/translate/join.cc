// SPDX-License-Identifier: Apache-2.0
// Operators that concatenate, split, slice and repeat tensors.
#include <algorithm>
#include <climits>

#include "caffe2/operator.h"

namespace nereid::caffe2 {
namespace {

/// Reads the argument `axis`; the default is the channel axis. `rank` includes an axis that the
/// operator adds.
Error ReadChannelAxis(const Operator& op, size_t rank, size_t* axis) {
  bool channels_last = false;
  NEREID_BACKEND_TRY(op.ReadOrder(&channels_last));
  return op.ReadAxis("axis", channels_last ? 3 : 1, rank, axis);
}

/// Translates Concat. The second output holds the sizes along the axis, as INT32.
Error Concat(Operator& op) {
  Graph& graph = op.graph();
  const bool added = op.Flag("add_axis");
  size_t axis = 0;
  NEREID_BACKEND_TRY(ReadChannelAxis(op, op.in(0).rank() + (added ? 1 : 0), &axis));
  std::vector<Value> parts;
  std::vector<Value> sizes;
  for (size_t i = 0; i < op.inputs(); ++i) {
    if (op.in(i).rank() != op.in(0).rank()) {
      return op.Bad("its inputs have different numbers of dimensions: " +
                    ShapeText(op.in(0).shape) + " and " + ShapeText(op.in(i).shape));
    }
    parts.push_back(added ? graph.Unsqueeze(op.in(i), {static_cast<int64_t>(axis)}) : op.in(i));
    if (op.Wants(1)) {
      sizes.push_back(graph.DimOf(parts.back(), axis));
    }
  }
  op.Set(0, graph.Concat(parts, axis));
  if (op.Wants(1)) {
    op.Set(1, graph.Cast(graph.Concat(sizes, 0), Type::kInt32));
  }
  return {};
}

Error Split(Operator& op) {
  Graph& graph = op.graph();
  const Value& x = op.in(0);
  size_t axis = 0;
  NEREID_BACKEND_TRY(ReadChannelAxis(op, x.rank(), &axis));
  const size_t count = op.outputs();
  if (count == 0) {
    return op.Bad("it has no outputs");
  }
  std::vector<int64_t> lengths = op.Ints("split");
  std::optional<Value> given;
  if (op.inputs() > 1) {
    given = graph.Cast(op.in(1), Type::kInt64);
    if (op.in(1).content) {
      lengths = *op.in(1).content;
    }
  } else if (lengths.empty()) {
    if (x.shape[axis] >= 0) {
      if (x.shape[axis] % static_cast<int64_t>(count) != 0) {
        return op.Bad("dimension " + std::to_string(axis) + " of " + ShapeText(x.shape) +
                      " cannot be cut into " + std::to_string(count) + " equal parts");
      }
      lengths.assign(count, x.shape[axis] / static_cast<int64_t>(count));
    }
  }
  if (std::any_of(lengths.begin(), lengths.end(), [](int64_t length) { return length < 0; })) {
    return op.Bad("the lengths are " + ShapeText(lengths));
  }
  if (!lengths.empty() && lengths.size() != count) {
    return op.Bad("it has " + std::to_string(count) + " outputs and " +
                  std::to_string(lengths.size()) + " lengths");
  }
  std::vector<std::pair<Type, Shape>> results;
  for (size_t i = 0; i < count; ++i) {
    Shape shape = x.shape;
    shape[axis] = lengths.empty() ? -1 : lengths[i];
    results.emplace_back(x.type, std::move(shape));
  }
  Attributes attributes = {{"axis", static_cast<int64_t>(axis)}};
  std::vector<const Value*> inputs = {&x};
  if (!given && !lengths.empty()) {
    given = graph.Ints(lengths);
  }
  if (given) {
    inputs.push_back(&*given);
  } else {
    attributes.push_back({"num_outputs", static_cast<int64_t>(count)});
  }
  std::vector<Value> parts = graph.Nodes("Split", inputs, results, attributes);
  for (size_t i = 0; i < count; ++i) {
    op.Set(i,
           op.Flag("add_axis") ? graph.Squeeze(parts[i], {static_cast<int64_t>(axis)}) : parts[i]);
  }
  return {};
}

/// Converts a bound of Slice. Negative bounds of Caffe2 count from size + 1, so -1 is the end.
int64_t ToOnnxBound(int64_t bound) {
  return bound >= 0 ? bound : bound == -1 ? INT_MAX : bound + 1;
}

Value ToOnnxBounds(Graph& graph, const Value& given) {
  if (given.content) {
    std::vector<int64_t> bounds;
    for (const int64_t bound : *given.content) {
      bounds.push_back(ToOnnxBound(bound));
    }
    return graph.Ints(bounds);
  }
  const Value bounds = graph.Cast(given, Type::kInt64);
  const Value end = graph.Scalar(Type::kInt64, -1);
  const Value next = graph.Binary("Add", bounds, graph.Scalar(Type::kInt64, 1));
  const Value most = graph.Scalar(Type::kInt64, INT_MAX);
  const Value negative = graph.Where(graph.Compare("Equal", bounds, end), most, next);
  return graph.Where(graph.Compare("Less", bounds, graph.Scalar(Type::kInt64, 0)), negative,
                     bounds);
}

int64_t Clamped(int64_t bound, int64_t size) {
  bound = bound < 0 ? bound + size : bound;
  return bound < 0 ? 0 : bound > size ? size : bound;
}

Error Slice(Operator& op) {
  Graph& graph = op.graph();
  const Value& x = op.in(0);
  Value bounds[2];
  const char* names[2] = {"starts", "ends"};
  for (size_t i = 0; i < 2; ++i) {
    bounds[i] =
        ToOnnxBounds(graph, op.inputs() == 3 ? op.in(i + 1) : graph.Ints(op.Ints(names[i])));
    if (bounds[i].rank() != 1 || bounds[i].shape[0] < 0 ||
        bounds[i].shape[0] > static_cast<int64_t>(x.rank()) ||
        bounds[i].shape[0] != bounds[0].shape[0]) {
      return op.Bad("it needs as many starts as ends, and no more than the input has dimensions");
    }
  }
  const auto count = static_cast<size_t>(bounds[0].shape[0]);
  Shape shape = x.shape;
  for (size_t i = 0; i < count; ++i) {
    if (bounds[0].content && bounds[1].content) {
      const int64_t from = (*bounds[0].content)[i];
      const int64_t to = (*bounds[1].content)[i];
      if (shape[i] >= 0) {
        shape[i] = std::max<int64_t>(0, Clamped(to, shape[i]) - Clamped(from, shape[i]));
      }
    } else {
      shape[i] = -1;
    }
  }
  if (count == 0) {
    op.Set(0, graph.Unary("Identity", x));
    return {};
  }
  const Value axes = graph.Ints(Axes(0, count));
  op.Set(0, graph.Node("Slice", {&x, &bounds[0], &bounds[1], &axes}, x.type, std::move(shape)));
  return {};
}

/// Translates Tile: `tiles` copies along `axis`. Both may also be inputs with one INT32.
Error Tile(Operator& op) {
  Graph& graph = op.graph();
  const Value& x = op.in(0);
  NEREID_BACKEND_TRY(op.NeedRank(0, 1));
  const auto number = [&](size_t input, const char* name) -> std::optional<int64_t> {
    if (input < op.inputs()) {
      const auto& content = op.in(input).content;
      return content && content->size() == 1 ? std::optional(content->front()) : std::nullopt;
    }
    return op.Int(name, name[0] == 't' ? 1 : 0);
  };
  const std::optional<int64_t> tiles = number(1, "tiles");
  const std::optional<int64_t> given = number(2, "axis");
  if (!given) {
    return op.Bad("its axis must be known when the net is loaded");
  }
  size_t axis = 0;
  NEREID_BACKEND_TRY(op.CheckAxis("axis", *given, x.rank(), &axis));
  if (tiles && (*tiles < 0 || *tiles > INT_MAX)) {
    return op.Bad("the argument 'tiles' is " + std::to_string(*tiles));
  }
  std::vector<Value> repeats;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (i != axis || tiles) {
      repeats.push_back(graph.Ints({i == axis ? *tiles : 1}));
    } else {
      repeats.push_back(graph.Reshape(graph.Cast(op.in(1), Type::kInt64), {{1}}));
    }
  }
  const Value list = graph.Concat(repeats, 0);
  Shape shape = x.shape;
  if (!tiles || shape[axis] < 0 || __builtin_mul_overflow(shape[axis], *tiles, &shape[axis])) {
    shape[axis] = -1;
  }
  op.Set(0, graph.Node("Tile", {&x, &list}, x.type, std::move(shape)));
  return {};
}

}  // namespace

const Rows& JoinRows() {
  static const Rows rows = {{"Concat", Concat, 1, SIZE_MAX},
                            {"DepthConcat", Concat, 1, SIZE_MAX},
                            {"Split", Split, 1, 2},
                            {"Slice", Slice, 1, 3},
                            {"Tile", Tile, 1, 3}};
  return rows;
}

}  // namespace nereid::caffe2
