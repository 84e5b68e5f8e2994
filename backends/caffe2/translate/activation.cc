// SPDX-License-Identifier: Apache-2.0
// Elementwise operators, and Softmax.
#include <cfloat>
#include <cmath>

#include "caffe2/operator.h"

namespace nereid::caffe2 {
namespace {

/// Translates operators that ONNX has under the same name (or Neg for Negative).
Error Same(Operator& op) {
  const char* name = op.type() == "Negative" ? "Neg" : op.type().c_str();
  op.Set(0, op.graph().Unary(name, op.in(0)));
  return {};
}

Error Copy(Operator& op) {
  for (size_t i = 0; i < op.inputs(); ++i) {
    Value copy = op.graph().Unary("Identity", op.in(i));
    copy.content = op.in(i).content;
    op.Set(i, std::move(copy));
  }
  return {};
}

Error Dropout(Operator& op) {
  if (!op.Flag("is_test")) {
    return op.Bad("it is in training mode; the argument 'is_test' must be 1");
  }
  op.Set(0, op.graph().Unary("Identity", op.in(0)));
  return {};
}

Error Swish(Operator& op) {
  op.Set(0, op.graph().Binary("Mul", op.in(0), op.graph().Unary("Sigmoid", op.in(0))));
  return {};
}

Error Sqr(Operator& op) {
  op.Set(0, op.graph().Binary("Mul", op.in(0), op.in(0)));
  return {};
}

Error Cube(Operator& op) {
  const Value square = op.graph().Binary("Mul", op.in(0), op.in(0));
  op.Set(0, op.graph().Binary("Mul", square, op.in(0)));
  return {};
}

Error Cbrt(Operator& op) {
  Graph& graph = op.graph();
  const Value third = graph.Scalar(op.in(0).type, 1.0 / 3.0);
  const Value root = graph.Binary("Pow", graph.Unary("Abs", op.in(0)), third);
  op.Set(0, graph.Binary("Mul", graph.Unary("Sign", op.in(0)), root));
  return {};
}

Error Rsqrt(Operator& op) {
  op.Set(0, op.graph().Unary("Reciprocal", op.graph().Unary("Sqrt", op.in(0))));
  return {};
}

Error Gelu(Operator& op) {
  Graph& graph = op.graph();
  const Value& x = op.in(0);
  const auto number = [&](double value) { return graph.Scalar(x.type, value); };
  Value inner;
  if (op.Flag("fast_gelu")) {
    const Value cube = graph.Binary("Mul", graph.Binary("Mul", x, x), x);
    inner = graph.Binary("Add", x, graph.Binary("Mul", cube, number(0.044715)));
    inner = graph.Unary("Tanh", graph.Binary("Mul", inner, number(std::sqrt(2 / M_PI))));
  } else {
    inner = graph.Unary("Erf", graph.Binary("Mul", x, number(M_SQRT1_2)));
  }
  const Value half = graph.Binary("Mul", x, number(0.5));
  op.Set(0, graph.Binary("Mul", half, graph.Binary("Add", inner, number(1))));
  return {};
}

Error Mish(Operator& op) {
  const Value inner = op.graph().Unary("Tanh", op.graph().Unary("Softplus", op.in(0)));
  op.Set(0, op.graph().Binary("Mul", op.in(0), inner));
  return {};
}

/// Translates Elu, LeakyRelu and ThresholdedRelu, which have one parameter.
Error WithAlpha(Operator& op) {
  const float alpha = op.Float("alpha", op.type() == "LeakyRelu" ? 0.01f : 1.0f);
  op.Set(0, op.graph().Unary(op.type().c_str(), op.in(0), {{"alpha", alpha}}));
  return {};
}

Error Selu(Operator& op) {
  op.Set(0, op.graph().Unary("Selu", op.in(0),
                             {{"alpha", op.Float("alpha", 1.6732632423543772848170429916717f)},
                              {"gamma", op.Float("scale", 1.0507009873554804934193349852946f)}}));
  return {};
}

Error HardSigmoid(Operator& op) {
  op.Set(0,
         op.graph().Unary("HardSigmoid", op.in(0),
                          {{"alpha", op.Float("alpha", 0.2f)}, {"beta", op.Float("beta", 0.5f)}}));
  return {};
}

/// Translates PRelu with one slope, or one for each channel.
Error PRelu(Operator& op) {
  bool channels_last = false;
  NEREID_BACKEND_TRY(op.ReadOrder(&channels_last));
  Value slope = op.in(1);
  const size_t rank = op.in(0).rank();
  const bool one = Product(slope.shape, 0, slope.rank()) == 1;
  if (!one && !channels_last && slope.rank() == 1 && rank > 2) {
    slope = op.graph().Unsqueeze(slope, Axes(1, rank - 1));
  }
  op.Set(0, op.graph().Node("PRelu", {&op.in(0), &slope}, op.in(0).type, op.in(0).shape));
  return {};
}

Value Clamp(Operator& op, const Value& x, float low, float high) {
  const Value least = op.graph().Scalar(x.type, low);
  const Value most = op.graph().Scalar(x.type, high);
  return op.graph().Node("Clip", {&x, &least, &most}, x.type, x.shape);
}

Error Clip(Operator& op) {
  op.Set(0, Clamp(op, op.in(0), op.Float("min", -FLT_MAX), op.Float("max", FLT_MAX)));
  return {};
}

Error ReluN(Operator& op) {
  op.Set(0, Clamp(op, op.in(0), 0, op.Float("n", 6)));
  return {};
}

Error Logit(Operator& op) {
  Graph& graph = op.graph();
  const float eps = op.Float("eps", 1e-6f);
  const Value x = Clamp(op, op.in(0), eps, 1 - eps);
  const Value rest = graph.Binary("Sub", graph.Scalar(x.type, 1), x);
  op.Set(0, graph.Unary("Log", graph.Binary("Div", x, rest)));
  return {};
}

Error Scale(Operator& op) {
  const Value factor = op.graph().Scalar(op.in(0).type, op.Float("scale", 1));
  op.Set(0, op.graph().Binary("Mul", op.in(0), factor));
  return {};
}

/// Translates Softmax over all dimensions from `axis` on together.
Error Softmax(Operator& op) {
  NEREID_BACKEND_TRY(op.NeedRank(0, 1));
  Graph& graph = op.graph();
  const Value& x = op.in(0);
  size_t axis = 0;
  NEREID_BACKEND_TRY(op.ReadAxis("axis", x.rank() == 1 ? 0 : 1, x.rank(), &axis));
  const Attributes last = {{"axis", int64_t{-1}}};
  if (axis + 1 == x.rank()) {
    op.Set(0, graph.Unary(op.type().c_str(), x, last));
  } else {
    const Value flat = graph.Unary(op.type().c_str(), graph.Flatten(x, axis), last);
    op.Set(0, graph.ReshapeLike(flat, x));
  }
  return {};
}

/// Translates Glu: the first half along `dim` times the sigmoid of the second half.
Error Glu(Operator& op) {
  const Value& x = op.in(0);
  size_t axis = 0;
  NEREID_BACKEND_TRY(op.ReadAxis("dim", -1, x.rank(), &axis));
  const int64_t size = x.shape[axis];
  if (size < 0 || size % 2 != 0) {
    return op.Bad("the size of dimension " + std::to_string(axis) + " of " + ShapeText(x.shape) +
                  " must be known and even");
  }
  const Value a = op.graph().Slice(x, axis, 0, size / 2);
  const Value b = op.graph().Slice(x, axis, size / 2, size);
  op.Set(0, op.graph().Binary("Mul", a, op.graph().Unary("Sigmoid", b)));
  return {};
}

}  // namespace

const Rows& ActivationRows() {
  static const Rows rows = [] {
    Rows made;
    for (const char* same :
         {"Relu", "Sigmoid", "Tanh", "Softplus", "Softsign",   "Abs",   "Negative",
          "Neg",  "Exp",     "Log",  "Sqrt",     "Reciprocal", "Floor", "Ceil",
          "Sin",  "Cos",     "Tan",  "Asin",     "Acos",       "Atan",  "Sinh",
          "Cosh", "Erf",     "Sign", "Not"}) {
      made.push_back({same, Same});
    }
    for (const char* copy :
         {"Copy", "Alias", "AliasWithName", "StopGradient", "EnsureDense", "EnsureCPUOutput",
          "CopyCPUToGPU", "CopyGPUToCPU", "CopyFromCPUInput", "CopyOnDeviceLike"}) {
      made.push_back({copy, Copy, 1, 2});
    }
    const Rows others = {{"Dropout", Dropout},
                         {"Swish", Swish},
                         {"Sqr", Sqr},
                         {"Cube", Cube},
                         {"Cbrt", Cbrt},
                         {"Rsqrt", Rsqrt},
                         {"Gelu", Gelu},
                         {"Mish", Mish},
                         {"Elu", WithAlpha},
                         {"LeakyRelu", WithAlpha},
                         {"ThresholdedRelu", WithAlpha},
                         {"Selu", Selu},
                         {"HardSigmoid", HardSigmoid},
                         {"PRelu", PRelu, 2, 2},
                         {"Clip", Clip},
                         {"ReluN", ReluN},
                         {"Logit", Logit},
                         {"Scale", Scale},
                         {"Softmax", Softmax},
                         {"LogSoftmax", Softmax},
                         {"Glu", Glu}};
    made.insert(made.end(), others.begin(), others.end());
    return made;
  }();
  return rows;
}

}  // namespace nereid::caffe2
