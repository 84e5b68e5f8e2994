// SPDX-License-Identifier: Apache-2.0
#include "caffe2/operator.h"

namespace nereid::caffe2 {
namespace {

constexpr float kEpsilon = 1e-5f;

/// Mean and variance over some axes, which are kept with size 1.
struct Spread {
  Value mean;
  Value difference;
  Value variance;
};

Spread Measure(Graph& graph, const Value& x, const std::vector<int64_t>& axes) {
  Spread spread;
  spread.mean = graph.Reduce("ReduceMean", x, axes, true);
  spread.difference = graph.Binary("Sub", x, spread.mean);
  const Value square = graph.Binary("Mul", spread.difference, spread.difference);
  spread.variance = graph.Reduce("ReduceMean", square, axes, true);
  return spread;
}

Value Deviation(Graph& graph, const Value& variance, float epsilon) {
  return graph.Unary("Sqrt", graph.Binary("Add", variance, graph.Scalar(variance.type, epsilon)));
}

/// Reshapes [C] to [C,1,...] for a tensor of `rank` dimensions with the channels in dimension 1.
Value PerChannel(Graph& graph, const Value& v, size_t rank) {
  return rank > 2 && v.rank() == 1 ? graph.Unsqueeze(v, Axes(1, rank - 1)) : v;
}

Error SpatialBN(Operator& op) {
  NEREID_BACKEND_TRY(op.NeedRank(0, 2));
  if (!op.Flag("is_test")) {
    return op.Bad("it is in training mode; the argument 'is_test' must be 1");
  }
  bool channels_last = false;
  NEREID_BACKEND_TRY(op.ReadOrder(&channels_last));
  Graph& graph = op.graph();
  const Value x = channels_last ? graph.ToChannelsFirst(op.in(0)) : op.in(0);
  const Value y = graph.Node("BatchNormalization", {&x, &op.in(1), &op.in(2), &op.in(3), &op.in(4)},
                             x.type, x.shape, {{"epsilon", op.Float("epsilon", kEpsilon)}});
  op.Set(0, channels_last ? graph.ToChannelsLast(y) : y);
  return {};
}

/// Translates InstanceNorm. The second and third output are the mean and 1/sqrt(variance +
/// epsilon), of shape [N,C].
Error InstanceNorm(Operator& op) {
  NEREID_BACKEND_TRY(op.NeedRank(0, 3));
  bool channels_last = false;
  NEREID_BACKEND_TRY(op.ReadOrder(&channels_last));
  Graph& graph = op.graph();
  const Value x = channels_last ? graph.ToChannelsFirst(op.in(0)) : op.in(0);
  const std::vector<int64_t> space = Axes(2, x.rank());
  const Spread spread = Measure(graph, x, space);
  const Value inverse =
      graph.Unary("Reciprocal", Deviation(graph, spread.variance, op.Float("epsilon", kEpsilon)));
  const Value scale = PerChannel(graph, op.in(1), x.rank());
  const Value bias = PerChannel(graph, op.in(2), x.rank());
  const Value normal = graph.Binary("Mul", spread.difference, inverse);
  const Value y = graph.Binary("Add", graph.Binary("Mul", normal, scale), bias);
  op.Set(0, channels_last ? graph.ToChannelsLast(y) : y);
  if (op.Wants(1)) {
    op.Set(1, graph.Squeeze(spread.mean, space));
  }
  if (op.Wants(2)) {
    op.Set(2, graph.Squeeze(inverse, space));
  }
  return {};
}

/// Translates LayerNorm over the dimensions from `axis` on. The second and third output are the
/// mean and sqrt(variance + epsilon), with the dimensions before the axis and a 1.
Error LayerNorm(Operator& op) {
  Graph& graph = op.graph();
  const Value& x = op.in(0);
  size_t axis = 0;
  NEREID_BACKEND_TRY(op.ReadAxis("axis", 1, x.rank(), &axis));
  const Spread spread = Measure(graph, x, Axes(axis, x.rank()));
  const Value deviation = Deviation(graph, spread.variance, op.Float("epsilon", kEpsilon));
  Value y = graph.Binary("Div", spread.difference, deviation);
  if (op.Flag("elementwise_affine")) {
    if (op.inputs() < 3) {
      return op.Bad("with elementwise_affine it needs three inputs");
    }
    y = graph.Binary("Add", graph.Binary("Mul", y, op.in(1)), op.in(2));
  }
  op.Set(0, y);
  const std::vector<int64_t> inner = Axes(axis + 1, x.rank());
  const auto drop = [&](const Value& v) { return inner.empty() ? v : graph.Squeeze(v, inner); };
  if (op.Wants(1)) {
    op.Set(1, drop(spread.mean));
  }
  if (op.Wants(2)) {
    op.Set(2, drop(deviation));
  }
  return {};
}

/// Translates LRN. The scale is bias + alpha / size * (sum of squares of the neighboring channels);
/// the sum is computed by an average pool over the channels.
Error Lrn(Operator& op) {
  NEREID_BACKEND_TRY(op.NeedRank(0, 3));
  bool channels_last = false;
  NEREID_BACKEND_TRY(op.ReadOrder(&channels_last));
  const int64_t size = op.Int("size", 0);
  if (size < 1 || size % 2 == 0 || size > INT32_MAX) {
    return op.Bad("the argument 'size' is " + std::to_string(size) + "; it must be odd");
  }
  Graph& graph = op.graph();
  const Value x = channels_last ? graph.ToChannelsFirst(op.in(0)) : op.in(0);
  const Value square = graph.Binary("Mul", x, x);
  // Reshapes to [N, 1, C, all other dimensions].
  const int64_t space = Product(x.shape, 2, x.rank());
  const Value rows =
      x.shape[1] >= 0 ? graph.Ints({0, 1, x.shape[1], -1})
                      : graph.Concat({graph.Ints({0, 1}), graph.DimOf(x, 1), graph.Ints({-1})}, 0);
  const Value grid =
      graph.Node("Reshape", {&square, &rows}, x.type, {x.shape[0], 1, x.shape[1], space});
  const Value mean =
      graph.Node("AveragePool", {&grid}, x.type, grid.shape,
                 {{"kernel_shape", std::vector<int64_t>{size, 1}},
                  {"pads", std::vector<int64_t>{(size - 1) / 2, 0, (size - 1) / 2, 0}},
                  {"count_include_pad", int64_t{1}}});
  const Value weighted = graph.Binary("Mul", mean, graph.Scalar(x.type, op.Float("alpha", 0)));
  const Value scale = graph.ReshapeLike(
      graph.Binary("Add", weighted, graph.Scalar(x.type, op.Float("bias", 1))), x);
  const Value power = graph.Binary("Pow", scale, graph.Scalar(x.type, -op.Float("beta", 0)));
  const Value y = graph.Binary("Mul", x, power);
  op.Set(0, channels_last ? graph.ToChannelsLast(y) : y);
  op.Set(1, channels_last ? graph.ToChannelsLast(scale) : scale);
  return {};
}

Error GroupNorm(Operator& op) {
  NEREID_BACKEND_TRY(op.NeedRank(0, 2));
  bool channels_last = false;
  NEREID_BACKEND_TRY(op.ReadOrder(&channels_last));
  Graph& graph = op.graph();
  const Value x = channels_last ? graph.ToChannelsFirst(op.in(0)) : op.in(0);
  const int64_t groups = op.Int("group", 32);
  if (groups < 1 || x.shape[1] < 1 || x.shape[1] % groups != 0) {
    return op.Bad("the argument 'group' does not divide the channels of " + ShapeText(x.shape));
  }
  const Value cut = graph.Reshape(x, {{-1, 0}, {groups}, {-1, -1}});
  const Spread spread = Measure(graph, cut, {2});
  const Value deviation = Deviation(graph, spread.variance, op.Float("epsilon", kEpsilon));
  const Value normal = graph.ReshapeLike(graph.Binary("Div", spread.difference, deviation), x);
  const Value scaled = graph.Binary("Mul", normal, PerChannel(graph, op.in(1), x.rank()));
  const Value y = graph.Binary("Add", scaled, PerChannel(graph, op.in(2), x.rank()));
  op.Set(0, channels_last ? graph.ToChannelsLast(y) : y);
  return {};
}

/// Translates Normalize and NormalizeL1: each vector along `axis` is divided by its norm.
Error Normalize(Operator& op) {
  Graph& graph = op.graph();
  const Value& x = op.in(0);
  size_t axis = 0;
  NEREID_BACKEND_TRY(op.ReadAxis("axis", -1, x.rank(), &axis));
  const bool l1 = op.type() == "NormalizeL1";
  const Value length =
      graph.Reduce(l1 ? "ReduceL1" : "ReduceL2", x, {static_cast<int64_t>(axis)}, true);
  const Value least = graph.Binary("Max", length, graph.Scalar(x.type, 1e-12));
  op.Set(0, graph.Binary("Div", x, least));
  return {};
}

Error AffineChannel(Operator& op) {
  bool channels_last = false;
  NEREID_BACKEND_TRY(op.ReadOrder(&channels_last));
  Graph& graph = op.graph();
  const Value& x = op.in(0);
  const size_t rank = channels_last ? 0 : x.rank();
  const Value scaled = graph.Binary("Mul", x, PerChannel(graph, op.in(1), rank));
  op.Set(0, graph.Binary("Add", scaled, PerChannel(graph, op.in(2), rank)));
  return {};
}

Error Moments(Operator& op) {
  Graph& graph = op.graph();
  std::vector<int64_t> axes;
  NEREID_BACKEND_TRY(op.ReadAxes("axes", op.in(0).rank(), &axes));
  if (axes.empty()) {
    axes = Axes(0, op.in(0).rank());
  }
  const Spread spread = Measure(graph, op.in(0), axes);
  const bool keep = op.Flag("keepdims", true);
  op.Set(0, keep ? spread.mean : graph.Squeeze(spread.mean, axes));
  op.Set(1, keep ? spread.variance : graph.Squeeze(spread.variance, axes));
  return {};
}

}  // namespace

const Rows& NormalizationRows() {
  static const Rows rows = {{"SpatialBN", SpatialBN, 5, 7},
                            {"InstanceNorm", InstanceNorm, 3, 3},
                            {"LayerNorm", LayerNorm, 1, 3},
                            {"LRN", Lrn},
                            {"GroupNorm", GroupNorm, 3, 3},
                            {"Normalize", Normalize},
                            {"NormalizeL1", Normalize},
                            {"AffineChannel", AffineChannel, 3, 3},
                            {"Moments", Moments}};
  return rows;
}

}  // namespace nereid::caffe2
