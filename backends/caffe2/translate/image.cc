// SPDX-License-Identifier: Apache-2.0
// Operators on images, which have two dimensions of space.
#include <climits>
#include <cmath>

#include "caffe2/translate/window.h"

namespace nereid::caffe2 {
namespace {

Error NeedPicture(const Operator& op, bool* channels_last) {
  NEREID_BACKEND_TRY(op.ReadOrder(channels_last));
  if (op.in(0).rank() != 4) {
    return op.Bad("the input has the shape " + ShapeText(op.in(0).shape) +
                  "; four dimensions are needed");
  }
  return {};
}

Error PadImage(Operator& op) {
  bool channels_last = false;
  NEREID_BACKEND_TRY(NeedPicture(op, &channels_last));
  Window window;
  NEREID_BACKEND_TRY(ReadWindow(op, 2, {1, 1}, &window));
  const std::string mode = op.Text("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge") {
    return op.Bad("the argument 'mode' is '" + mode + "', not constant, reflect or edge");
  }
  Graph& graph = op.graph();
  const Value& x = op.in(0);
  const size_t first = channels_last ? 1 : 2;
  std::vector<int64_t> pads(8, 0);
  Shape shape = x.shape;
  for (size_t i = 0; i < 2; ++i) {
    pads[first + i] = window.pads[i];
    pads[4 + first + i] = window.pads[2 + i];
    shape[first + i] =
        shape[first + i] < 0 ? -1 : shape[first + i] + window.pads[i] + window.pads[2 + i];
  }
  const Value list = graph.Ints(pads);
  const Value value = graph.Scalar(x.type, op.Float("value", 0));
  op.Set(0, graph.Node("Pad", {&x, &list, &value}, x.type, std::move(shape), {{"mode", mode}}));
  return {};
}

/// Translates ResizeNearest and UpsampleBilinear. The scales of height and width are arguments or
/// an input.
Error Resize(Operator& op) {
  bool channels_last = false;
  NEREID_BACKEND_TRY(NeedPicture(op, &channels_last));
  Graph& graph = op.graph();
  const Value x = channels_last ? graph.ToChannelsFirst(op.in(0)) : op.in(0);
  Shape shape = {x.shape[0], x.shape[1], -1, -1};
  Value scales;
  if (op.inputs() > 1) {
    const Value ones = graph.Cast(graph.Ints({1, 1}), Type::kFloat);
    scales = graph.Concat({ones, op.in(1)}, 0);
  } else {
    const float given[2] = {op.Float("height_scale", 1), op.Float("width_scale", 1)};
    std::vector<Value> parts = {graph.Cast(graph.Ints({1, 1}), Type::kFloat)};
    for (size_t i = 0; i < 2; ++i) {
      if (!(given[i] > 0) || given[i] > 65536) {
        return op.Bad("a scale is " + std::to_string(given[i]));
      }
      parts.push_back(graph.Unsqueeze(graph.Scalar(Type::kFloat, given[i]), {0}));
      if (x.shape[2 + i] >= 0 && x.shape[2 + i] <= INT_MAX) {
        shape[2 + i] =
            static_cast<int64_t>(std::floor(static_cast<float>(x.shape[2 + i]) * given[i]));
      }
    }
    scales = graph.Concat(parts, 0);
  }
  const bool nearest = op.type() == "ResizeNearest";
  Attributes attributes = {
      {"mode", std::string(nearest ? "nearest" : "linear")},
      {"coordinate_transformation_mode", std::string(nearest ? "asymmetric" : "align_corners")}};
  if (nearest) {
    attributes.push_back({"nearest_mode", std::string("floor")});
  }
  const Value y =
      graph.Node("Resize", {&x, nullptr, &scales}, x.type, std::move(shape), attributes);
  op.Set(0, channels_last ? graph.ToChannelsLast(y) : y);
  return {};
}

Error ChannelShuffle(Operator& op) {
  NEREID_BACKEND_TRY(op.NeedRank(0, 2));
  bool channels_last = false;
  NEREID_BACKEND_TRY(op.ReadOrder(&channels_last));
  Graph& graph = op.graph();
  const Value x = channels_last ? graph.ToChannelsFirst(op.in(0)) : op.in(0);
  const int64_t group = op.Int("group", 1);
  const int64_t channels = x.shape[1];
  if (group < 1 || channels < 0 || channels % group != 0) {
    return op.Bad("the argument 'group' is " + std::to_string(group) +
                  ", which does not divide the channels of " + ShapeText(x.shape));
  }
  const Value cut =
      graph.Reshape(x, {{-1, 0}, {group}, {channels / group}, {Product(x.shape, 2, x.rank()), -1}});
  const Value y = graph.ReshapeLike(graph.Transpose(cut, {0, 2, 1, 3}), x);
  op.Set(0, channels_last ? graph.ToChannelsLast(y) : y);
  return {};
}

/// Translates SpaceToBatch: blocks of space become batch items.
Error SpaceToBatch(Operator& op) {
  bool channels_last = false;
  NEREID_BACKEND_TRY(NeedPicture(op, &channels_last));
  const Value& x = op.in(0);
  const int64_t block = op.Int("block_size", 2);
  Window window;
  NEREID_BACKEND_TRY(ReadWindow(op, 2, {1, 1}, &window));
  if (channels_last || block < 1 || block > 65536 || Product(x.shape, 0, 4) < 0) {
    return op.Bad("it needs the order NCHW, a positive block_size and a known shape");
  }
  Graph& graph = op.graph();
  std::vector<int64_t> pads(8, 0);
  Shape padded = x.shape;
  for (size_t i = 0; i < 2; ++i) {
    pads[2 + i] = window.pads[i];
    pads[6 + i] = window.pads[2 + i];
    padded[2 + i] += window.pads[i] + window.pads[2 + i];
    if (padded[2 + i] % block != 0) {
      return op.Bad("the argument 'block_size' does not divide " + ShapeText(padded));
    }
  }
  const Value list = graph.Ints(pads);
  const Value wide = graph.Node("Pad", {&x, &list}, x.type, padded);
  const int64_t rows = padded[2] / block;
  const int64_t columns = padded[3] / block;
  const Value cut =
      graph.Reshape(wide, {{x.shape[0]}, {x.shape[1]}, {rows}, {block}, {columns}, {block}});
  const Value turned = graph.Transpose(cut, {3, 5, 0, 1, 2, 4});
  op.Set(0, graph.Reshape(turned, {{block * block * x.shape[0]}, {x.shape[1]}, {rows}, {columns}}));
  return {};
}

}  // namespace

const Rows& ImageRows() {
  static const Rows rows = {{"PadImage", PadImage},
                            {"ResizeNearest", Resize, 1, 2},
                            {"UpsampleBilinear", Resize, 1, 2},
                            {"ChannelShuffle", ChannelShuffle},
                            {"SpaceToBatch", SpaceToBatch}};
  return rows;
}

}  // namespace nereid::caffe2
