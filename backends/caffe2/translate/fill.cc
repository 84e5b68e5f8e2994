// SPDX-License-Identifier: Apache-2.0
// Operators that create tensors. Random fills have a fixed seed, so each load gives the same
// numbers.
#include <cmath>
#include <cstring>
#include <random>

#include "caffe2/translate/cast.h"

namespace nereid::caffe2 {
namespace {

/// Tensors of up to this many elements remember their content, because it may be a shape.
constexpr int64_t kRemembered = 64;

template <typename T>
void Append(T value, std::string* raw) {
  raw->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void AppendNumber(Type type, double real, int64_t whole, std::string* raw) {
  switch (type) {
    case Type::kFloat:
      return Append(static_cast<float>(real), raw);
    case Type::kDouble:
      return Append(real, raw);
    case Type::kInt64:
      return Append(whole, raw);
    case Type::kInt32:
      return Append(static_cast<int32_t>(whole), raw);
    case Type::kInt16:
    case Type::kUint16:
      return Append(static_cast<int16_t>(whole), raw);
    case Type::kBool:
      return Append(static_cast<char>(whole != 0 ? 1 : 0), raw);
    default:
      return Append(static_cast<int8_t>(whole), raw);
  }
}

bool IsReal(Type type) { return type == Type::kFloat || type == Type::kDouble; }

/// The shape from the arguments or the input. `runtime` is set if the shape is known only at run
/// time.
struct FillShape {
  Shape shape;
  std::optional<Value> runtime;
};

Error ReadShape(const Operator& op, FillShape* fill) {
  fill->shape = op.Ints("shape");
  const std::vector<int64_t> extra = op.Ints("extra_shape");
  if (op.inputs() > 0) {
    const Value& x = op.in(0);
    const bool as_shape = op.Flag("input_as_shape");
    if (as_shape && (x.rank() != 1 || x.shape[0] < 0 || x.shape[0] > kRemembered)) {
      return op.Bad("the length of its input, the shape, is not known");
    }
    fill->shape = !as_shape   ? x.shape
                  : x.content ? *x.content
                              : Shape(static_cast<size_t>(x.shape[0]), -1);
    fill->runtime = as_shape ? op.graph().Cast(x, Type::kInt64) : op.graph().ShapeOf(x);
  }
  fill->shape.insert(fill->shape.end(), extra.begin(), extra.end());
  const bool known = Product(fill->shape, 0, fill->shape.size()) >= 0;
  for (const int64_t size : fill->shape) {
    if (size < (fill->runtime ? -1 : 0)) {
      return op.Bad("the shape is " + ShapeText(fill->shape));
    }
  }
  if (known) {
    fill->runtime.reset();
  } else if (!fill->runtime) {
    return op.Bad("the shape " + ShapeText(fill->shape) + " is too large");
  } else if (!extra.empty()) {
    fill->runtime = op.graph().Concat({*fill->runtime, op.graph().Ints(extra)}, 0);
  }
  return {};
}

Error Count(const Operator& op, const FillShape& fill, Type type, int64_t* count) {
  if (fill.runtime) {
    return op.Bad("its shape must be known when the net is loaded");
  }
  *count = Product(fill.shape, 0, fill.shape.size());
  int64_t bytes = 0;
  if (__builtin_mul_overflow(*count, static_cast<int64_t>(TypeSize(type)), &bytes)) {
    return op.Bad("the shape " + ShapeText(fill.shape) + " is too large");
  }
  return op.Take(bytes);
}

Error Given(Operator& op, Type type) {
  FillShape fill;
  NEREID_BACKEND_TRY(ReadShape(op, &fill));
  const auto* values = op.Find("values");
  const int64_t given = values == nullptr ? 0
                        : IsReal(type)    ? values->floats_size()
                                          : values->ints_size();
  if (fill.runtime || Product(fill.shape, 0, fill.shape.size()) != given) {
    return op.Bad("it gives " + std::to_string(given) + " values for the shape " +
                  ShapeText(fill.shape));
  }
  std::string raw;
  raw.reserve(static_cast<size_t>(given) * TypeSize(type));
  std::vector<int64_t> content;
  for (int i = 0; i < given; ++i) {
    if (IsReal(type)) {
      AppendNumber(type, static_cast<double>(values->floats(i)), 0, &raw);
    } else {
      AppendNumber(type, 0, values->ints(i), &raw);
      content.push_back(values->ints(i));
    }
  }
  Value value = op.graph().Constant(type, fill.shape, std::move(raw));
  if ((type == Type::kInt32 || type == Type::kInt64) && given <= kRemembered &&
      fill.shape.size() <= 1) {
    value.content = std::move(content);
  }
  if (given == 1) {
    value.number = IsReal(type) ? static_cast<double>(values->floats(0))
                                : static_cast<double>(values->ints(0));
  }
  op.Set(0, std::move(value));
  return {};
}

template <Type kType>
Error GivenFill(Operator& op) {
  return Given(op, kType);
}

Error GivenTexts(Operator& op) {
  FillShape fill;
  NEREID_BACKEND_TRY(ReadShape(op, &fill));
  const auto* values = op.Find("values");
  const int64_t given = values == nullptr ? 0 : values->strings_size();
  if (fill.runtime || Product(fill.shape, 0, fill.shape.size()) != given) {
    return op.Bad("it gives " + std::to_string(given) + " values for the shape " +
                  ShapeText(fill.shape));
  }
  std::vector<std::string> texts;
  for (int i = 0; i < given; ++i) {
    texts.push_back(values->strings(i));
  }
  op.Set(0, op.graph().Texts(fill.shape, texts));
  return {};
}

Error ConstantFill(Operator& op) {
  Graph& graph = op.graph();
  const auto* value = op.Find("value");
  Type type = value != nullptr && !value->has_f() && value->has_i() ? Type::kInt64 : Type::kFloat;
  NEREID_BACKEND_TRY(ReadType(op, "dtype", &type));
  if (TypeSize(type) == 0 || type == Type::kHalf) {
    return op.Bad(std::string("it cannot fill with ") + TypeText(type));
  }
  FillShape fill;
  NEREID_BACKEND_TRY(ReadShape(op, &fill));
  const float real = op.Float("value", 0);
  const auto whole = value != nullptr && value->has_i() ? value->i()
                     : std::abs(real) < 9e18f           ? static_cast<int64_t>(real)
                                                        : 0;
  if (fill.runtime) {
    std::string raw;
    AppendNumber(type, static_cast<double>(real), whole, &raw);
    const Value scalar = graph.Constant(type, {}, std::move(raw));
    op.Set(0, graph.Node("Expand", {&scalar, &*fill.runtime}, type, fill.shape));
    return {};
  }
  int64_t count = 0;
  NEREID_BACKEND_TRY(Count(op, fill, type, &count));
  std::string raw;
  raw.reserve(static_cast<size_t>(count) * TypeSize(type));
  for (int64_t i = 0; i < count; ++i) {
    AppendNumber(type, static_cast<double>(real), whole, &raw);
  }
  Value made = graph.Constant(type, fill.shape, std::move(raw));
  if ((type == Type::kInt32 || type == Type::kInt64) && count <= kRemembered &&
      fill.shape.size() <= 1) {
    made.content.emplace(static_cast<size_t>(count), whole);
  }
  if (count == 1) {
    made.number = IsReal(type) ? static_cast<double>(real) : static_cast<double>(whole);
  }
  op.Set(0, std::move(made));
  return {};
}

/// Translates XavierFill, MSRAFill, GaussianFill, UniformFill and UniformIntFill.
Error RandomFill(Operator& op) {
  FillShape fill;
  NEREID_BACKEND_TRY(ReadShape(op, &fill));
  const Type type = op.type() == "UniformIntFill" ? Type::kInt32 : Type::kFloat;
  int64_t count = 0;
  NEREID_BACKEND_TRY(Count(op, fill, type, &count));
  const auto all = static_cast<double>(count);
  const auto dim = [&](size_t i) {
    return i < fill.shape.size() && fill.shape[i] > 0 ? static_cast<double>(fill.shape[i]) : 1.0;
  };
  double low = static_cast<double>(op.Float("min", 0));
  double high = static_cast<double>(op.Float("max", 1));
  double mean = static_cast<double>(op.Float("mean", 0));
  double deviation = static_cast<double>(op.Float("std", 1));
  const bool normal = op.type() == "GaussianFill" || op.type() == "MSRAFill";
  if (op.type() == "XavierFill") {
    high = std::sqrt(3.0 / std::max(1.0, all / dim(0)));
    low = -high;
  } else if (op.type() == "MSRAFill") {
    mean = 0;
    deviation = std::sqrt(2.0 / std::max(1.0, all / dim(1)));
  }
  std::mt19937_64 random(20240607);
  std::normal_distribution<double> bell(0, 1);
  std::uniform_real_distribution<double> even(0, 1);
  std::string raw;
  raw.reserve(static_cast<size_t>(count) * TypeSize(type));
  for (int64_t i = 0; i < count; ++i) {
    const double real =
        normal ? mean + deviation * bell(random) : low + (high - low) * even(random);
    const bool whole_fits = std::abs(real) < 2e9;
    AppendNumber(type, real, whole_fits ? static_cast<int64_t>(std::floor(real)) : 0, &raw);
  }
  op.Set(0, op.graph().Constant(type, fill.shape, std::move(raw)));
  return {};
}

/// Returns the number of elements of a Range; -1 if a bound is known only at run time.
int64_t RangeSize(const Value (&bounds)[3]) {
  if (!bounds[0].number || !bounds[1].number || !bounds[2].number) {
    return -1;
  }
  const double size = std::ceil((*bounds[1].number - *bounds[0].number) / *bounds[2].number);
  return !(size > 0) ? 0 : size > 1e15 ? int64_t{1000000000000000} : static_cast<int64_t>(size);
}

/// Translates Range, with the inputs (stop), (start, stop) or (start, stop, step).
Error Range(Operator& op) {
  Graph& graph = op.graph();
  const Type type = op.in(0).type;
  Value bounds[3] = {graph.Scalar(type, 0), {}, graph.Scalar(type, 1)};
  bounds[0].number = 0;
  bounds[2].number = 1;
  for (size_t i = 0; i < op.inputs(); ++i) {
    const Value& given = op.in(i);
    if (given.type != type || (given.rank() > 0 && Product(given.shape, 0, given.rank()) != 1)) {
      return op.Bad("its inputs must be single numbers of one type");
    }
    Value number = given.rank() == 0 ? given : graph.Squeeze(given, Axes(0, given.rank()));
    number.number = given.number;
    bounds[op.inputs() == 1 ? 1 : i] = std::move(number);
  }
  if (op.constant()) {
    const int64_t size = RangeSize(bounds);
    if (size < 0) {
      return op.Bad("its bounds must be known when the net is loaded, or depend on an input");
    }
    NEREID_BACKEND_TRY(op.Take(size * static_cast<int64_t>(TypeSize(type))));
  }
  op.Set(0, graph.Node("Range", {&bounds[0], &bounds[1], &bounds[2]}, type, {-1}));
  return {};
}

Error DiagonalFill(Operator& op) {
  FillShape fill;
  NEREID_BACKEND_TRY(ReadShape(op, &fill));
  Type type = Type::kFloat;
  NEREID_BACKEND_TRY(ReadType(op, "dtype", &type));
  if (TypeSize(type) == 0 || type == Type::kHalf || fill.shape.size() < 2) {
    return op.Bad("it needs two dimensions or more, of numbers");
  }
  int64_t count = 0;
  NEREID_BACKEND_TRY(Count(op, fill, type, &count));
  int64_t step = 0;  // distance between two elements of the diagonal
  for (size_t i = 0; i < fill.shape.size(); ++i) {
    if (fill.shape[i] != fill.shape[0] && fill.shape.size() > 2) {
      return op.Bad("with more than two dimensions, all must be equal");
    }
    step += Product(fill.shape, i + 1, fill.shape.size());
  }
  const int64_t length = std::min(fill.shape[0], fill.shape[1]);
  const float real = op.Float("value", 0);
  std::string raw;
  raw.reserve(static_cast<size_t>(count) * TypeSize(type));
  for (int64_t i = 0; i < count; ++i) {
    const bool on = i % step == 0 && i / step < length;
    AppendNumber(type, on ? static_cast<double>(real) : 0,
                 on ? op.Int("value", static_cast<int64_t>(std::abs(real) < 1e9f ? real : 0)) : 0,
                 &raw);
  }
  op.Set(0, op.graph().Constant(type, fill.shape, std::move(raw)));
  return {};
}

}  // namespace

const Rows& FillRows() {
  static const Rows rows = {{"GivenTensorFill", GivenFill<Type::kFloat>, 0, 1},
                            {"GivenTensorDoubleFill", GivenFill<Type::kDouble>, 0, 1},
                            {"GivenTensorIntFill", GivenFill<Type::kInt32>, 0, 1},
                            {"GivenTensorInt64Fill", GivenFill<Type::kInt64>, 0, 1},
                            {"GivenTensorInt16Fill", GivenFill<Type::kInt16>, 0, 1},
                            {"GivenTensorBoolFill", GivenFill<Type::kBool>, 0, 1},
                            {"GivenTensorStringFill", GivenTexts, 0, 1},
                            {"ConstantFill", ConstantFill, 0, 1},
                            {"XavierFill", RandomFill, 0, 1},
                            {"MSRAFill", RandomFill, 0, 1},
                            {"GaussianFill", RandomFill, 0, 1},
                            {"UniformFill", RandomFill, 0, 1},
                            {"UniformIntFill", RandomFill, 0, 1},
                            {"Range", Range, 1, 3},
                            {"DiagonalFill", DiagonalFill, 0, 1}};
  return rows;
}

}  // namespace nereid::caffe2
