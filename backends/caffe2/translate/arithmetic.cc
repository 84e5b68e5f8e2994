// SPDX-License-Identifier: Apache-2.0
// Operators on two tensors, and on several tensors of the same shape.
#include <cmath>

#include "caffe2/operator.h"

namespace nereid::caffe2 {
namespace {

/// Reshapes the second operand for NumPy's broadcast rules. Caffe2 has an older rule with
/// broadcast=1: the dimensions of the second operand are the last ones of the first, or begin at
/// `axis`. The axis may also be given as a letter of `order`.
Error AlignSecond(const Operator& op, Value* b) {
  const Value& a = op.in(0);
  *b = op.in(1);
  if (!op.Flag("broadcast") || b->rank() == 0 || Product(b->shape, 0, b->rank()) == 1) {
    return {};
  }
  int64_t axis = op.Int("axis", -1);
  if (const std::string letter = op.Text("axis_str", ""); !letter.empty()) {
    const size_t place = op.Text("order", "NCHW").find(letter);
    if (letter.size() != 1 || place == std::string::npos) {
      return op.Bad("the argument 'axis_str' is '" + letter + "', which is no letter of the order");
    }
    axis = static_cast<int64_t>(place);
  }
  if (axis == -1) {
    return {};
  }
  size_t first = 0;
  NEREID_BACKEND_TRY(op.CheckAxis("axis", axis, a.rank(), &first));
  if (first + b->rank() > a.rank()) {
    return op.Bad("a second input of shape " + ShapeText(b->shape) + " does not fit at axis " +
                  std::to_string(axis) + " of " + ShapeText(a.shape));
  }
  if (first + b->rank() < a.rank()) {
    *b = op.graph().Unsqueeze(*b, Axes(b->rank(), a.rank() - first));
  }
  return {};
}

struct NamePair {
  const char* caffe2;
  const char* onnx;
};

const char* OnnxName(const std::string& type) {
  static constexpr NamePair kNames[] = {{"Add", "Add"},
                                        {"Sub", "Sub"},
                                        {"Mul", "Mul"},
                                        {"Div", "Div"},
                                        {"And", "And"},
                                        {"Or", "Or"},
                                        {"Xor", "Xor"},
                                        {"BitwiseAnd", "BitwiseAnd"},
                                        {"BitwiseOr", "BitwiseOr"},
                                        {"BitwiseXor", "BitwiseXor"},
                                        {"EQ", "Equal"},
                                        {"Equal", "Equal"},
                                        {"NE", "Equal"},
                                        {"LT", "Less"},
                                        {"Less", "Less"},
                                        {"LE", "LessOrEqual"},
                                        {"GT", "Greater"},
                                        {"Greater", "Greater"},
                                        {"GE", "GreaterOrEqual"},
                                        {"Max", "Max"},
                                        {"Min", "Min"}};
  for (const NamePair& pair : kNames) {
    if (type == pair.caffe2) {
      return pair.onnx;
    }
  }
  return "";
}

Error Binary(Operator& op) {
  Value b;
  NEREID_BACKEND_TRY(AlignSecond(op, &b));
  const bool logical = op.in(0).type == Type::kBool && op.type().starts_with("Bitwise");
  const std::string type = logical ? op.type().substr(7) : op.type();
  op.Set(0, op.graph().Binary(OnnxName(type), op.in(0), b));
  return {};
}

Error Comparison(Operator& op) {
  Value b;
  NEREID_BACKEND_TRY(AlignSecond(op, &b));
  Value result = op.graph().Compare(OnnxName(op.type()), op.in(0), b);
  op.Set(0, op.type() == "NE" ? op.graph().Unary("Not", result) : result);
  return {};
}

Error Pow(Operator& op) {
  Value exponent;
  if (op.inputs() == 2) {
    NEREID_BACKEND_TRY(AlignSecond(op, &exponent));
  } else if (op.Has("exponent")) {
    exponent = op.graph().Scalar(op.in(0).type, op.Float("exponent", 0));
  } else {
    return op.Bad("it has neither a second input nor the argument 'exponent'");
  }
  op.Set(0, op.graph().Binary("Pow", op.in(0), exponent));
  return {};
}

Error Fold(Operator& op, const char* name) {
  Value sum = op.in(0);
  for (size_t i = 1; i < op.inputs(); ++i) {
    sum = op.graph().Binary(name, sum, op.in(i));
  }
  op.Set(0, op.inputs() == 1 ? op.graph().Unary("Identity", sum) : sum);
  return {};
}

Error Sum(Operator& op) { return Fold(op, "Add"); }
Error MaxMin(Operator& op) { return Fold(op, OnnxName(op.type())); }

Error Mean(Operator& op) {
  Value sum = op.in(0);
  for (size_t i = 1; i < op.inputs(); ++i) {
    sum = op.graph().Binary("Add", sum, op.in(i));
  }
  const Value count = op.graph().Scalar(sum.type, static_cast<double>(op.inputs()));
  op.Set(0, op.graph().Binary("Div", sum, count));
  return {};
}

Error Mod(Operator& op) {
  const int64_t divisor = op.Int("divisor", 0);
  if (divisor == 0) {
    return op.Bad("the argument 'divisor' is 0 or missing");
  }
  if (divisor == -1) {  // a division by -1 traps for the smallest integer
    op.Set(0, op.graph().Binary("Sub", op.in(0), op.in(0)));
    return {};
  }
  const Value by =
      op.graph().Cast(op.graph().Squeeze(op.graph().Ints({divisor}), {0}), op.in(0).type);
  // fmod 1: the result has the sign of the dividend, as in C.
  op.Set(0, op.graph().Node("Mod", {&op.in(0), &by}, op.in(0).type, op.in(0).shape,
                            {{"fmod", int64_t{op.Flag("sign_follow_divisor") ? 0 : 1}}}));
  return {};
}

Error Where(Operator& op) {
  Value condition = op.in(0);
  if (op.Flag("enable_broadcast") && condition.rank() == 1 && op.in(1).rank() > 1) {
    condition = op.graph().Unsqueeze(condition, Axes(1, op.in(1).rank()));
  }
  Graph& graph = op.graph();
  if (op.in(1).type == Type::kBool) {  // ONNX Runtime's Where does not support bool
    const Value yes = graph.Cast(op.in(1), Type::kUint8);
    const Value no = graph.Cast(op.in(2), Type::kUint8);
    const Value chosen = graph.Where(condition, yes, no);
    op.Set(0, graph.Cast(chosen, Type::kBool));
    return {};
  }
  op.Set(0, graph.Where(condition, op.in(1), op.in(2)));
  return {};
}

/// Translates RowMul: row i of X is multiplied by w[i].
Error RowMul(Operator& op) {
  NEREID_BACKEND_TRY(op.NeedRank(0, 1));
  Value w = op.graph().Reshape(op.in(1), {NewDim{}});
  if (op.in(0).rank() > 1) {
    w = op.graph().Unsqueeze(w, Axes(1, op.in(0).rank()));
  }
  op.Set(0, op.graph().Binary("Mul", op.in(0), w));
  return {};
}

}  // namespace

const Rows& ArithmeticRows() {
  constexpr size_t kMany = SIZE_MAX;
  static const Rows rows = {
      {"Add", Binary, 2, 2},        {"Sub", Binary, 2, 2},        {"Mul", Binary, 2, 2},
      {"Div", Binary, 2, 2},        {"And", Binary, 2, 2},        {"Or", Binary, 2, 2},
      {"Xor", Binary, 2, 2},        {"BitwiseAnd", Binary, 2, 2}, {"BitwiseOr", Binary, 2, 2},
      {"BitwiseXor", Binary, 2, 2}, {"EQ", Comparison, 2, 2},     {"Equal", Comparison, 2, 2},
      {"NE", Comparison, 2, 2},     {"LT", Comparison, 2, 2},     {"Less", Comparison, 2, 2},
      {"LE", Comparison, 2, 2},     {"GT", Comparison, 2, 2},     {"Greater", Comparison, 2, 2},
      {"GE", Comparison, 2, 2},     {"Pow", Pow, 1, 2},           {"Sum", Sum, 1, kMany},
      {"Max", MaxMin, 1, kMany},    {"Min", MaxMin, 1, kMany},    {"Mean", Mean, 1, kMany},
      {"Mod", Mod, 1, 1},           {"Where", Where, 3, 3},       {"RowMul", RowMul, 2, 2}};
  return rows;
}

}  // namespace nereid::caffe2
