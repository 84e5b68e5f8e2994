// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "caffe2/translate/window.h"

namespace nereid::caffe2 {
namespace {

/// Returns the name without dimensions: "MaxPool" for "MaxPool2D".
std::string OnnxName(const Operator& op) { return op.type().substr(0, op.type().find("Pool") + 4); }

/// Reads the order of the norm for LpPool.
Error ReadNorm(const Operator& op, int64_t* norm) {
  const float p = op.Float("p", 2);
  if (!(p >= 1 && p <= 1e6f) || p != std::floor(p)) {
    return op.Bad("the argument 'p' is " + std::to_string(p) + "; it must be a whole number");
  }
  *norm = static_cast<int64_t>(p);
  return {};
}

Value GlobalPool(Operator& op, const Value& x, int64_t norm) {
  Shape shape(x.rank(), 1);
  shape[0] = x.shape[0];
  shape[1] = x.shape[1];
  Attributes attributes;
  if (OnnxName(op) == "LpPool") {
    attributes.push_back({"p", norm});
  }
  return op.graph().Node(("Global" + OnnxName(op)).c_str(), {&x}, x.type, std::move(shape),
                         attributes);
}

Error Pool(Operator& op) {
  NEREID_BACKEND_TRY(op.NeedRank(0, 3));
  bool channels_last = false;
  NEREID_BACKEND_TRY(op.ReadOrder(&channels_last));
  const Value x = channels_last ? op.graph().ToChannelsFirst(op.in(0)) : op.in(0);
  int64_t norm = 2;
  if (OnnxName(op) == "LpPool") {
    NEREID_BACKEND_TRY(ReadNorm(op, &norm));
  }
  Value y;
  if (op.Flag("global_pooling")) {
    y = GlobalPool(op, x, norm);
  } else {
    Window window;
    NEREID_BACKEND_TRY(ReadWindow(op, x.rank() - 2, {}, &window));
    for (const int64_t dilation : window.dilations) {
      if (dilation != 1) {
        return op.Bad("pools have no dilation");
      }
    }
    const ResolvedWindow resolved = Resolve(window, Shape(x.shape.begin() + 2, x.shape.end()));
    Attributes attributes = {{"kernel_shape", window.kernels}, {"strides", window.strides}};
    resolved.AddPads(&attributes);
    const std::string name = OnnxName(op);
    if (resolved.ceil) {
      attributes.push_back({"ceil_mode", int64_t{1}});
    }
    if (name == "AveragePool") {
      attributes.push_back({"count_include_pad", int64_t{op.Flag("count_include_pad") ? 1 : 0}});
    } else if (name == "LpPool") {
      attributes.push_back({"p", norm});
    }
    Shape shape = {x.shape[0], x.shape[1]};
    shape.insert(shape.end(), resolved.out.begin(), resolved.out.end());
    y = op.graph().Node(name.c_str(), {&x}, x.type, std::move(shape), attributes);
  }
  op.Set(0, channels_last ? op.graph().ToChannelsLast(y) : y);
  return {};
}

}  // namespace

const Rows& PoolingRows() {
  static const Rows rows = {
      {"MaxPool", Pool},       {"MaxPool1D", Pool},     {"MaxPool2D", Pool},
      {"MaxPool3D", Pool},     {"AveragePool", Pool},   {"AveragePool1D", Pool},
      {"AveragePool2D", Pool}, {"AveragePool3D", Pool}, {"LpPool", Pool}};
  return rows;
}

}  // namespace nereid::caffe2
