// SPDX-License-Identifier: Apache-2.0
#include "caffe2/graph.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <numeric>

namespace nereid::caffe2 {
namespace {

template <typename T>
std::string Raw(T value) {
  std::string raw(sizeof(T), '\0');
  std::memcpy(raw.data(), &value, sizeof(T));
  return raw;
}

Shape Broadcast(const Shape& a, const Shape& b) {
  Shape shape(std::max(a.size(), b.size()), -1);
  for (size_t i = 0; i < shape.size(); ++i) {  // begins with the last dimension
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    int64_t& dim = shape[shape.size() - 1 - i];
    if (x == 1 || y == 1) {
      dim = x == 1 ? y : x;
    } else {
      dim = x == -1 ? y : x;
    }
  }
  return shape;
}

void SetShape(const Shape& shape, onnx_graph::TensorType* type) {
  auto* proto = type->mutable_shape();
  for (size_t i = 0; i < shape.size(); ++i) {
    auto* dim = proto->add_dim();
    if (shape[i] >= 0) {
      dim->set_dim_value(shape[i]);
    }
  }
}

/// Converts to a whole number, rounding toward zero and limiting to the range; 0 for NaN.
int64_t Whole(double number, int64_t least, int64_t most) {
  if (std::isnan(number)) {
    return 0;
  }
  return number <= static_cast<double>(least)  ? least
         : number >= static_cast<double>(most) ? most
                                               : static_cast<int64_t>(number);
}

}  // namespace

const char* TypeText(Type type) {
  static constexpr const char* kTexts[] = {"an unknown type", "FP32",  "UINT8", "INT8",
                                           "UINT16",          "INT16", "INT32", "INT64",
                                           "BYTES",           "BOOL",  "FP16",  "FP64"};
  const auto number = static_cast<size_t>(type);
  return number < std::size(kTexts) ? kTexts[number] : kTexts[0];
}

size_t TypeSize(Type type) {
  static constexpr size_t kSizes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8};
  const auto number = static_cast<size_t>(type);
  return number < std::size(kSizes) ? kSizes[number] : 0;
}

std::string ShapeText(const Shape& shape) {
  constexpr size_t kShown = 16;
  std::string text = "[";
  for (size_t i = 0; i < std::min(shape.size(), kShown); ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(shape[i]);
  }
  return text + (shape.size() > kShown ? ",...]" : "]");
}

std::string NameText(const std::string& name) {
  size_t length = 200;
  if (name.size() <= length) {
    return "'" + name + "'";
  }
  while (length > 0 && (static_cast<unsigned char>(name[length]) & 0xC0) == 0x80) {
    --length;  // do not cut inside a UTF-8 character
  }
  return "'" + name.substr(0, length) + "...'";
}

int64_t Product(const Shape& shape, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t i = begin; i < end; ++i) {
    if (shape[i] < 0 || __builtin_mul_overflow(product, shape[i], &product)) {
      return -1;
    }
  }
  return product;
}

std::vector<int64_t> Axes(size_t first, size_t last) {
  std::vector<int64_t> axes(last > first ? last - first : 0);
  std::iota(axes.begin(), axes.end(), static_cast<int64_t>(first));
  return axes;
}

Graph::Graph(const std::string& name, std::set<std::string> reserved)
    : graph_(*model_.mutable_graph()), reserved_(std::move(reserved)) {
  model_.set_ir_version(8);
  model_.set_producer_name("nereid");
  auto* opset = model_.add_opset_import();
  opset->set_domain("");
  opset->set_version(kOpset);
  graph_.set_name(name.empty() ? "net" : name);
}

std::string Graph::Fresh(std::string_view hint) {
  std::string name;
  do {
    name = std::string(hint) + "#" + std::to_string(++counter_);
  } while (reserved_.count(name) > 0);
  return name;
}

Value Graph::Input(const std::string& name, Type type, const Shape& shape) {
  auto* input = graph_.add_input();
  input->set_name(name);
  auto* tensor = input->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int32_t>(type));
  SetShape(shape, tensor);
  return {name, type, shape, {}, {}, false};
}

void Graph::Output(const std::string& name, const Value& value) {
  auto* node = graph_.add_node();
  node->set_op_type("Identity");
  node->set_name("output '" + name + "'");
  node->add_input(value.name);
  node->add_output(name);
  auto* output = graph_.add_output();
  output->set_name(name);
  auto* tensor = output->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int32_t>(value.type));
  SetShape(value.shape, tensor);
}

Value Graph::Constant(Type type, const Shape& shape, std::string raw, std::string_view hint) {
  auto* tensor = graph_.add_initializer();
  tensor->set_name(Fresh(hint));
  tensor->set_data_type(static_cast<int32_t>(type));
  tensor->mutable_dims()->Assign(shape.begin(), shape.end());
  tensor->set_raw_data(std::move(raw));
  return {tensor->name(), type, shape, {}, {}, true};
}

Value Graph::Texts(const Shape& shape, const std::vector<std::string>& texts) {
  auto* tensor = graph_.add_initializer();
  tensor->set_name(Fresh("c"));
  tensor->set_data_type(static_cast<int32_t>(Type::kString));
  tensor->mutable_dims()->Assign(shape.begin(), shape.end());
  for (const std::string& text : texts) {
    tensor->add_string_data(text);
  }
  return {tensor->name(), Type::kString, shape, {}, {}, true};
}

Value Graph::Ints(const std::vector<int64_t>& values) {
  std::string raw(values.size() * sizeof(int64_t), '\0');
  if (!values.empty()) {
    std::memcpy(raw.data(), values.data(), raw.size());
  }
  Value value = Constant(Type::kInt64, {static_cast<int64_t>(values.size())}, std::move(raw));
  value.content = values;
  return value;
}

Value Graph::Scalar(Type type, double number) {
  switch (type) {
    case Type::kDouble:
      return Constant(type, {}, Raw(number));
    case Type::kInt32:
      return Constant(type, {}, Raw(static_cast<int32_t>(Whole(number, INT32_MIN, INT32_MAX))));
    case Type::kInt64:
      return Constant(type, {}, Raw(Whole(number, INT64_MIN, INT64_MAX)));
    case Type::kFloat:
      return Constant(type, {}, Raw(static_cast<float>(number)));
    default:
      return Cast(Constant(Type::kFloat, {}, Raw(static_cast<float>(number))), type);
  }
}

std::vector<Value> Graph::Nodes(const char* op, const std::vector<const Value*>& inputs,
                                const std::vector<std::pair<Type, Shape>>& results,
                                const Attributes& attributes) {
  auto* node = graph_.add_node();
  node->set_op_type(op);
  node->set_name(Fresh(context_));
  for (const Value* input : inputs) {
    node->add_input(input == nullptr ? "" : input->name);
  }
  for (const Attribute& given : attributes) {
    auto* attribute = node->add_attribute();
    attribute->set_name(given.name);
    attribute->set_type(static_cast<int32_t>(given.kind));
    switch (given.kind) {
      case Attribute::Kind::kReal:
        attribute->set_f(given.real);
        break;
      case Attribute::Kind::kWhole:
        attribute->set_i(given.whole);
        break;
      case Attribute::Kind::kText:
        attribute->set_s(given.text);
        break;
      case Attribute::Kind::kWholes:
        attribute->mutable_ints()->Assign(given.wholes.begin(), given.wholes.end());
        break;
    }
  }
  const bool constant = std::all_of(inputs.begin(), inputs.end(), [](const Value* input) {
    return input == nullptr || input->constant;
  });
  std::vector<Value> values;
  for (const auto& [type, shape] : results) {
    Value& value = values.emplace_back();
    value.constant = constant;
    int64_t bytes = Product(shape, 0, shape.size());
    if (constant && bytes > 0 &&
        __builtin_mul_overflow(bytes, static_cast<int64_t>(TypeSize(type)), &bytes)) {
      bytes = INT64_MAX;
    }
    largest_constant_ = constant ? std::max(largest_constant_, bytes) : largest_constant_;
    value.name = Fresh("v");
    value.type = type;
    value.shape = shape;
    node->add_output(value.name);
  }
  return values;
}

Value Graph::Node(const char* op, const std::vector<const Value*>& inputs, Type type, Shape shape,
                  const Attributes& attributes) {
  return Nodes(op, inputs, {{type, std::move(shape)}}, attributes)[0];
}

Value Graph::Unary(const char* op, const Value& x, const Attributes& attributes) {
  return Node(op, {&x}, x.type, x.shape, attributes);
}

Value Graph::Cast(const Value& x, Type to) {
  if (x.type == to) {
    return x;
  }
  Value value = Node("Cast", {&x}, to, x.shape, {{"to", static_cast<int64_t>(to)}});
  const auto whole = [](Type type) { return type == Type::kInt32 || type == Type::kInt64; };
  if (whole(x.type) && whole(to)) {
    value.content = x.content;
  }
  return value;
}

Value Graph::Binary(const char* op, const Value& a, const Value& b) {
  return Node(op, {&a, &b}, a.type, Broadcast(a.shape, b.shape));
}

Value Graph::Compare(const char* op, const Value& a, const Value& b) {
  return Node(op, {&a, &b}, Type::kBool, Broadcast(a.shape, b.shape));
}

Value Graph::Where(const Value& condition, const Value& a, const Value& b) {
  return Node("Where", {&condition, &a, &b}, a.type,
              Broadcast(condition.shape, Broadcast(a.shape, b.shape)));
}

Value Graph::Transpose(const Value& x, const std::vector<int64_t>& axes) {
  Shape shape(axes.size(), -1);
  for (size_t i = 0; i < axes.size(); ++i) {
    shape[i] = x.shape[static_cast<size_t>(axes[i])];
  }
  return Node("Transpose", {&x}, x.type, std::move(shape), {{"perm", axes}});
}

Value Graph::TransposeLast(const Value& x) {
  std::vector<int64_t> axes = Axes(0, x.rank());
  if (axes.size() >= 2) {
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  }
  return Transpose(x, axes);
}

Value Graph::ToChannelsFirst(const Value& x) {
  std::vector<int64_t> axes = Axes(0, x.rank());
  if (axes.size() > 2) {
    std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
    return Transpose(x, axes);
  }
  return x;
}

Value Graph::ToChannelsLast(const Value& x) {
  std::vector<int64_t> axes = Axes(0, x.rank());
  if (axes.size() > 2) {
    std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
    return Transpose(x, axes);
  }
  return x;
}

Value Graph::Reshape(const Value& x, const std::vector<NewDim>& dims) {
  Shape shape;
  std::vector<int64_t> sizes;
  int unknown = 0;
  for (const NewDim& dim : dims) {
    const int64_t known = dim.from >= 0 ? x.shape[static_cast<size_t>(dim.from)] : dim.size;
    shape.push_back(known);
    // In ONNX, 0 means the dimension at the same position of the input.
    const bool same_place =
        known < 0 && dim.from >= 0 && static_cast<size_t>(dim.from) == shape.size() - 1;
    sizes.push_back(same_place ? 0 : known);
    unknown += known < 0 && !same_place ? 1 : 0;
  }
  const int64_t total = Product(x.shape, 0, x.rank());
  if (unknown == 1 && total >= 0) {  // compute the only unknown one
    const auto open = std::find(shape.begin(), shape.end(), -1);
    int64_t rest = 1;
    for (const int64_t size : shape) {
      if (size >= 0 && __builtin_mul_overflow(rest, size, &rest)) {
        rest = 0;
        break;
      }
    }
    if (open != shape.end() && rest > 0 && total % rest == 0) {
      *open = total / rest;
      sizes[static_cast<size_t>(open - shape.begin())] = *open;
    }
  }
  if (unknown <= 1) {
    const Value target = Ints(sizes);
    return Node("Reshape", {&x, &target}, x.type, std::move(shape));
  }
  // ONNX allows one -1 in a target shape. With more unknown dimensions the shape is computed at run
  // time.
  std::vector<Value> parts;
  for (size_t i = 0; i < dims.size(); ++i) {
    parts.push_back(dims[i].from >= 0 && shape[i] < 0 ? DimOf(x, static_cast<size_t>(dims[i].from))
                                                      : Ints({shape[i]}));
  }
  const Value target = Concat(parts, 0);
  return Node("Reshape", {&x, &target}, x.type, std::move(shape));
}

Value Graph::Flatten(const Value& x, size_t axis) {
  return Node("Flatten", {&x}, x.type,
              {Product(x.shape, 0, axis), Product(x.shape, axis, x.rank())},
              {{"axis", static_cast<int64_t>(axis)}});
}

Value Graph::ReshapeLike(const Value& x, const Value& like) {
  if (std::count(like.shape.begin(), like.shape.end(), -1) <= 1) {
    const Value target = Ints(like.shape);
    return Node("Reshape", {&x, &target}, x.type, like.shape);
  }
  const Value target = ShapeOf(like);
  return Node("Reshape", {&x, &target}, x.type, like.shape);
}

Value Graph::Unsqueeze(const Value& x, const std::vector<int64_t>& axes) {
  Shape shape = x.shape;
  for (const int64_t axis : axes) {
    shape.insert(shape.begin() + axis, 1);
  }
  const Value list = Ints(axes);
  return Node("Unsqueeze", {&x, &list}, x.type, std::move(shape));
}

Value Graph::Squeeze(const Value& x, const std::vector<int64_t>& axes) {
  Shape shape;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end()) {
      shape.push_back(x.shape[i]);
    }
  }
  const Value list = Ints(axes);
  return Node("Squeeze", {&x, &list}, x.type, std::move(shape));
}

Value Graph::ShapeOf(const Value& x) {
  Value shape = Node("Shape", {&x}, Type::kInt64, {static_cast<int64_t>(x.rank())});
  if (std::count(x.shape.begin(), x.shape.end(), -1) == 0) {
    shape.content = x.shape;
  }
  return shape;
}

Value Graph::DimOf(const Value& x, size_t axis) {
  if (x.shape[axis] >= 0) {
    return Ints({x.shape[axis]});
  }
  const auto start = static_cast<int64_t>(axis);
  return Node("Shape", {&x}, Type::kInt64, {1}, {{"start", start}, {"end", start + 1}});
}

Value Graph::Concat(const std::vector<Value>& parts, size_t axis) {
  Shape shape = parts[0].shape;
  std::vector<const Value*> inputs;
  for (const Value& part : parts) {
    inputs.push_back(&part);
    for (size_t i = 0; i < shape.size() && i < part.rank(); ++i) {
      if (i == axis && inputs.size() > 1) {
        if (shape[i] < 0 || part.shape[i] < 0 ||
            __builtin_add_overflow(shape[i], part.shape[i], &shape[i])) {
          shape[i] = -1;
        }
      } else if (i != axis && shape[i] < 0) {
        shape[i] = part.shape[i];
      }
    }
  }
  return Node("Concat", inputs, parts[0].type, std::move(shape),
              {{"axis", static_cast<int64_t>(axis)}});
}

Value Graph::Slice(const Value& x, size_t axis, int64_t first, int64_t last) {
  const Value from = Ints({first});
  const Value to = Ints({last});
  const Value on = Ints({static_cast<int64_t>(axis)});
  Shape shape = x.shape;
  if (shape[axis] >= 0) {
    shape[axis] = std::max<int64_t>(0, std::min(last, shape[axis]) - first);
  }
  return Node("Slice", {&x, &from, &to, &on}, x.type, std::move(shape));
}

Value Graph::Reduce(const char* op, const Value& x, const std::vector<int64_t>& axes, bool keep) {
  Shape shape;
  for (size_t i = 0; i < x.rank(); ++i) {
    const bool reduced =
        axes.empty() || std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    if (!reduced || keep) {
      shape.push_back(reduced ? 1 : x.shape[i]);
    }
  }
  const Attributes attributes = {{"keepdims", int64_t{keep ? 1 : 0}}};
  if (axes.empty()) {
    return Node(op, {&x}, x.type, std::move(shape), attributes);
  }
  const Value list = Ints(axes);
  return Node(op, {&x, &list}, x.type, std::move(shape), attributes);
}

Value Graph::MatMul(const Value& a, const Value& b) {
  Shape shape;
  if (a.rank() >= 2 && b.rank() >= 2) {
    shape = Broadcast(Shape(a.shape.begin(), a.shape.end() - 2),
                      Shape(b.shape.begin(), b.shape.end() - 2));
    shape.push_back(a.shape[a.rank() - 2]);
    shape.push_back(b.shape[b.rank() - 1]);
  } else {  // as in NumPy, the dimension that a vector lacks is not in the result
    if (a.rank() >= 2) {
      shape.assign(a.shape.begin(), a.shape.end() - 1);
    } else if (b.rank() >= 2) {
      shape.assign(b.shape.begin(), b.shape.end() - 2);
      shape.push_back(b.shape.back());
    }
  }
  return Node("MatMul", {&a, &b}, a.type, std::move(shape));
}

Value Graph::Range(const Value& count) {
  const Value zero = Scalar(Type::kInt64, 0);
  const Value one = Scalar(Type::kInt64, 1);
  const Value limit = Squeeze(count, {0});
  const int64_t size = count.content && count.content->size() == 1 ? count.content->front() : -1;
  return Node("Range", {&zero, &limit, &one}, Type::kInt64, {size});
}

std::string Graph::Serialize() const {
  std::string bytes;
  if (model_.ByteSizeLong() > INT_MAX || !model_.SerializeToString(&bytes)) {
    return "";
  }
  return bytes;
}

}  // namespace nereid::caffe2
