// SPDX-License-Identifier: Apache-2.0
#include "caffe2/testing/net_text.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "onnx_graph.pb.h"

namespace nereid::caffe2::testing {
namespace {

std::vector<std::string> Words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

std::vector<std::string> Elements(const std::string& list) {
  std::istringstream stream(list.substr(1, list.size() - 2));
  std::vector<std::string> elements;
  for (std::string element; std::getline(stream, element, ',');) {
    elements.push_back(element);
  }
  return elements;
}

bool IsNumber(const std::string& text) {
  return !text.empty() && text.find_first_not_of("-+.0123456789e") == std::string::npos;
}

std::string Unquoted(const std::string& text) {
  return text.size() >= 2 && text.front() == '"' ? text.substr(1, text.size() - 2) : text;
}

void SetArgument(const std::string& value, caffe2_net::Argument* argument) {
  if (value.front() != '[') {
    if (!IsNumber(value)) {
      argument->set_s(Unquoted(value));
    } else if (value.find('.') != std::string::npos) {
      argument->set_f(std::strtof(value.c_str(), nullptr));
    } else {
      argument->set_i(std::strtoll(value.c_str(), nullptr, 10));
    }
    return;
  }
  const std::vector<std::string> elements = Elements(value);
  const bool real = value.find('.') != std::string::npos;
  for (const std::string& element : elements) {
    if (!IsNumber(element)) {
      argument->add_strings(Unquoted(element));
    } else if (real) {
      argument->add_floats(std::strtof(element.c_str(), nullptr));
    } else {
      argument->add_ints(std::strtoll(element.c_str(), nullptr, 10));
    }
  }
}

void ParseOperator(const std::vector<std::string>& words, caffe2_net::OperatorDef* op) {
  op->set_type(words[0]);
  bool behind = false;
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "->") {
      behind = true;
    } else if (const size_t equals = words[i].find('='); equals != std::string::npos) {
      caffe2_net::Argument* argument = op->add_arg();
      argument->set_name(words[i].substr(0, equals));
      SetArgument(words[i].substr(equals + 1), argument);
    } else {
      (behind ? op->add_output(words[i]) : op->add_input(words[i]));
    }
  }
}

Type TypeOf(const std::string& text) {
  for (int number = 1; number <= 11; ++number) {
    if (text == TypeText(static_cast<Type>(number))) {
      return static_cast<Type>(number);
    }
  }
  throw std::invalid_argument(text + " is no type");
}

template <typename T>
std::string Numbers(const std::string& raw) {
  std::ostringstream text;
  for (size_t i = 0; i < raw.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
    text << (i == 0 ? "" : ",") << +value;
  }
  return text.str();
}

std::string Values(Type type, const std::string& raw) {
  switch (type) {
    case Type::kFloat:
      return Numbers<float>(raw);
    case Type::kDouble:
      return Numbers<double>(raw);
    case Type::kInt32:
      return Numbers<int32_t>(raw);
    case Type::kInt64:
      return Numbers<int64_t>(raw);
    case Type::kInt16:
      return Numbers<int16_t>(raw);
    case Type::kUint16:
      return Numbers<uint16_t>(raw);
    case Type::kInt8:
      return Numbers<int8_t>(raw);
    default:
      return Numbers<uint8_t>(raw);
  }
}

/// "{0,-1}" for INT64 lists, "FP32 0.5" for other small ones, "FP32 [4,3]" for large ones.
std::string ConstantText(const onnx_graph::Tensor& tensor) {
  const auto type = static_cast<Type>(tensor.data_type());
  const Shape shape(tensor.dims().begin(), tensor.dims().end());
  const int64_t count = Product(shape, 0, shape.size());
  if (type == Type::kString || count > 12) {
    return std::string(TypeText(type)) + " " + ShapeText(shape);
  }
  const std::string values = Values(type, tensor.raw_data());
  const std::string list = shape.empty() ? values : "{" + values + "}";
  const std::string head = shape.size() > 1 ? ShapeText(shape) : "";
  return (type == Type::kInt64 && shape.size() == 1 ? "" : TypeText(type) + head + " ") + list;
}

std::string AttributeText(const onnx_graph::Attribute& attribute) {
  std::ostringstream text;
  text << " " << attribute.name() << "=";
  switch (attribute.type()) {
    case 1:
      text << attribute.f();
      break;
    case 2:
      text << attribute.i();
      break;
    case 3:
      text << attribute.s();
      break;
    default:
      text << ShapeText({attribute.ints().begin(), attribute.ints().end()});
  }
  return text.str();
}

std::string ShapeOf(const onnx_graph::TensorType& type) {
  Shape shape;
  for (const auto& dim : type.shape().dim()) {
    shape.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
  }
  return std::string(TypeText(static_cast<Type>(type.elem_type()))) + " " + ShapeText(shape);
}

/// The graph's names are numbers that change with anything; here they count from 1.
class Printer {
 public:
  std::string Print(const onnx_graph::Graph& graph) {
    for (const auto& input : graph.input()) {
      names_[input.name()] = input.name();
    }
    for (const auto& constant : graph.initializer()) {
      names_[constant.name()] = ConstantText(constant);
    }
    for (const auto& output : graph.output()) {
      outputs_[output.name()] = ShapeOf(output.type().tensor_type());
    }
    for (const auto& node : graph.node()) {
      PrintNode(node);
    }
    return text_;
  }

 private:
  void PrintNode(const onnx_graph::Node& node) {
    if (const auto output = outputs_.find(node.output(0)); output != outputs_.end()) {
      text_ += output->first + " " + output->second + " = " + names_[node.input(0)] + "\n";
      return;
    }
    for (int i = 0; i < node.output_size(); ++i) {
      names_[node.output(i)] = "%" + std::to_string(++count_);
      text_ += (i == 0 ? "" : ", ") + names_[node.output(i)];
    }
    text_ += " = " + node.op_type() + "(";
    for (int i = 0; i < node.input_size(); ++i) {
      text_ += (i == 0 ? "" : ", ") + names_[node.input(i)];
    }
    text_ += ")";
    for (const auto& attribute : node.attribute()) {
      text_ += AttributeText(attribute);
    }
    text_ += "\n";
  }

  std::map<std::string, std::string> names_;
  std::map<std::string, std::string> outputs_;
  std::string text_;
  int count_ = 0;
};

}  // namespace

NetCase ParseCase(std::string_view text) {
  NetCase net;
  net.text = text;
  std::istringstream lines(net.text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> words = Words(line);
    if (words.empty() || words[0] == "#") {
      continue;
    }
    if (words[0] == "input") {
      NetInput& input = net.inputs.emplace_back();
      input.name = words[1];
      input.type = TypeOf(words[2]);
      for (const std::string& dim : Elements(words[3])) {
        input.shape.push_back(std::strtoll(dim.c_str(), nullptr, 10));
      }
      net.nets.predict.add_external_input(input.name);
    } else if (words[0] == "output") {
      net.nets.predict.add_external_output(words[1]);
    } else if (words[0] == "init") {
      words.erase(words.begin());
      ParseOperator(words, net.nets.init.add_op());
    } else {
      ParseOperator(words, net.nets.predict.add_op());
    }
  }
  caffe2_net::NetDef& predict = net.nets.predict;
  if (predict.external_output_size() == 0 && predict.op_size() > 0) {
    *predict.mutable_external_output() = predict.op(predict.op_size() - 1).output();
  }
  return net;
}

std::vector<NetCase> ReadCases(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw std::invalid_argument(path + " cannot be read");
  }
  std::vector<NetCase> cases;
  std::string name;
  std::string text;
  std::string expected;
  bool behind = false;
  const auto finish = [&] {
    if (!name.empty()) {
      cases.push_back(ParseCase(text));
      cases.back().name = name;
      cases.back().expected = expected;
    }
    text.clear();
    expected.clear();
    behind = false;
  };
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("== ")) {
      finish();
      name = line.substr(3);
    } else if (line == "--") {
      behind = true;
    } else if (!line.empty()) {
      (behind ? expected : text) += line + "\n";
    }
  }
  finish();
  return cases;
}

std::string WriteCases(const std::vector<NetCase>& cases) {
  std::string text;
  for (const NetCase& net : cases) {
    text += "== " + net.name + "\n" + net.text + "--\n" + net.expected + "\n";
  }
  return text;
}

std::string TranslateToText(const NetCase& net) {
  Translation translation;
  if (const Error error = TranslateNets(net.nets, net.inputs, kFillRoom, &translation);
      !error.ok()) {
    return "error: " + error.message() + "\n";
  }
  onnx_graph::Model model;
  if (!model.ParseFromString(translation.model)) {
    throw std::logic_error("what was made is no ONNX model");
  }
  return Printer().Print(model.graph());
}

std::string GoldenPath(const std::string& name) {
  const char* root = std::getenv("NEREID_SOURCE_DIR");
  return std::string(root == nullptr ? "." : root) + "/backends/caffe2/golden/" + name + ".txt";
}

std::vector<std::string> GoldenNames() {
  std::vector<std::string> names;
  const std::filesystem::path folder = std::filesystem::path(GoldenPath("x")).parent_path();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace nereid::caffe2::testing
