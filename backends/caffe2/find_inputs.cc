// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "caffe2/translate.h"

namespace nereid::caffe2 {
namespace {

Type FromConfig(TRITONSERVER_DataType type) {
  switch (type) {
    case TRITONSERVER_TYPE_BOOL:
      return Type::kBool;
    case TRITONSERVER_TYPE_UINT8:
      return Type::kUint8;
    case TRITONSERVER_TYPE_UINT16:
      return Type::kUint16;
    case TRITONSERVER_TYPE_INT8:
      return Type::kInt8;
    case TRITONSERVER_TYPE_INT16:
      return Type::kInt16;
    case TRITONSERVER_TYPE_INT32:
      return Type::kInt32;
    case TRITONSERVER_TYPE_INT64:
      return Type::kInt64;
    case TRITONSERVER_TYPE_FP16:
      return Type::kHalf;
    case TRITONSERVER_TYPE_FP32:
      return Type::kFloat;
    case TRITONSERVER_TYPE_FP64:
      return Type::kDouble;
    default:
      return Type::kNone;
  }
}

const caffe2_net::OperatorDef* FirstReader(const caffe2_net::NetDef& net, const std::string& name,
                                           int* place) {
  for (const auto& op : net.op()) {
    const auto found = std::find(op.input().begin(), op.input().end(), name);
    if (found != op.input().end()) {
      *place = static_cast<int>(found - op.input().begin());
      return &op;
    }
  }
  return nullptr;
}

/// The last shape that the init net fills a blob with.
Shape FilledShape(const caffe2_net::NetDef& init, const std::string& name) {
  Shape shape;
  for (const auto& op : init.op()) {
    if (op.output_size() != 1 || op.output(0) != name) {
      continue;
    }
    for (const auto& argument : op.arg()) {
      if (argument.name() == "shape") {
        shape.assign(argument.ints().begin(), argument.ints().end());
      }
    }
  }
  return shape;
}

bool NhwcOrder(const caffe2_net::OperatorDef& op) {
  return std::any_of(op.arg().begin(), op.arg().end(), [](const auto& argument) {
    return argument.name() == "order" && argument.s() == "NHWC";
  });
}

bool HasAxis(const caffe2_net::OperatorDef& op) {
  return std::any_of(op.arg().begin(), op.arg().end(), [](const auto& argument) {
    return argument.name() == "axis" && argument.i() != 1;
  });
}

/// What the first reader tells of an input; an empty shape where it tells nothing.
void Derive(const NetPair& nets, NetInput* input) {
  int place = 0;
  const auto* reader = FirstReader(nets.predict, input->name, &place);
  if (reader == nullptr) {
    return;
  }
  const std::string& type = reader->type();
  if (type == "HalfToFloat") {
    input->type = Type::kHalf;
  } else if (type == "And" || type == "Or" || type == "Xor" || type == "Not") {
    input->type = Type::kBool;
  } else if (type == "Gather" && place == 1) {
    input->type = Type::kInt64;
  }
  if (place != 0 || reader->input_size() < 2) {
    return;
  }
  const Shape weight = FilledShape(nets.init, reader->input(1));
  if (type.starts_with("Conv") && !type.starts_with("ConvTranspose") && weight.size() > 2) {
    input->shape.assign(weight.size(), -1);
    const bool grouped = std::any_of(reader->arg().begin(), reader->arg().end(),
                                     [](const auto& a) { return a.name() == "group"; });
    if (!grouped) {
      NhwcOrder(*reader) ? input->shape.back() = weight.back() : input->shape[1] = weight[1];
    }
  } else if (type == "FC" && weight.size() == 2 && !HasAxis(*reader)) {
    input->shape = {-1, weight[1]};
  } else if (type == "FCTransposed" && weight.size() == 2 && !HasAxis(*reader)) {
    input->shape = {-1, weight[0]};
  }
}

}  // namespace

Error FindInputs(const NetPair& nets, const ModelConfig& config, std::vector<NetInput>* inputs) {
  const auto& external = nets.predict.external_input();
  for (const backend::TensorConfig& given : config.inputs) {
    if (std::find(external.begin(), external.end(), given.name) == external.end()) {
      std::string names;
      for (const std::string& name : external) {
        names += (names.empty() ? "" : ", ") + name;
      }
      return Error::InvalidArgument("the net has no external_input '" + given.name +
                                    "'; it has: " + (names.empty() ? "none" : names));
    }
    NetInput& input = inputs->emplace_back();
    input.name = given.name;
    input.type = FromConfig(given.data_type);
    if (input.type == Type::kNone) {
      return Error::Unsupported("input '" + given.name + "' has the data type " +
                                backend::DataTypeToConfig(given.data_type) +
                                ", which Caffe2 nets do not take");
    }
    input.shape = given.ModelDims();
    if (config.batching()) {
      input.shape.insert(input.shape.begin(), -1);
    }
  }
  if (!config.inputs.empty()) {
    return {};
  }
  for (const std::string& name : external) {
    const bool filled =
        std::any_of(nets.init.op().begin(), nets.init.op().end(), [&](const auto& op) {
          return std::find(op.output().begin(), op.output().end(), name) != op.output().end();
        });
    if (filled) {
      continue;
    }
    NetInput& input = inputs->emplace_back();
    input.name = name;
    Derive(nets, &input);
    if (input.shape.empty()) {
      return Error::InvalidArgument(
          "the configuration must list the inputs: the net does not tell "
          "the dimensions of '" +
          name + "'");
    }
  }
  return {};
}

}  // namespace nereid::caffe2
