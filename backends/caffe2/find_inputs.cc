// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

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

const caffe2_net::Argument* FindArgument(const caffe2_net::OperatorDef& op, std::string_view name) {
  const auto found = std::find_if(op.arg().rbegin(), op.arg().rend(),
                                  [&](const auto& argument) { return argument.name() == name; });
  return found == op.arg().rend() ? nullptr : &*found;
}

/// An index of the operators that read and fill each blob, by name, because nets may be very large.
class BlobIndex {
 public:
  explicit BlobIndex(const NetPair& nets) : nets_(nets) {
    for (int i = 0; i < nets.predict.op_size(); ++i) {
      for (const std::string& name : nets.predict.op(i).input()) {
        if (std::vector<int>& readers = readers_[name]; readers.empty() || readers.back() != i) {
          readers.push_back(i);
        }
      }
    }
    for (const auto& op : nets.init.op()) {
      for (const std::string& name : op.output()) {
        fills_[name] = &op;
      }
    }
  }

  /// Returns the index of the first operator at or after `from` that reads the blob; -1 if there is
  /// none.
  int FirstReader(std::string_view name, int from) const {
    const auto found = readers_.find(name);
    if (found == readers_.end()) {
      return -1;
    }
    const auto first = std::lower_bound(found->second.begin(), found->second.end(), from);
    return first == found->second.end() ? -1 : *first;
  }

  /// Returns the shape with which the init net fills a blob last; nothing if it does not write the
  /// blob.
  std::optional<Shape> FilledShape(std::string_view name) const {
    const auto found = fills_.find(name);
    if (found == fills_.end()) {
      return std::nullopt;
    }
    const auto* shape = FindArgument(*found->second, "shape");
    return shape == nullptr ? Shape() : Shape(shape->ints().begin(), shape->ints().end());
  }

  const caffe2_net::OperatorDef& Op(int place) const { return nets_.predict.op(place); }

 private:
  const NetPair& nets_;
  std::map<std::string_view, std::vector<int>> readers_;
  std::map<std::string_view, const caffe2_net::OperatorDef*> fills_;
};

bool IsNhwc(const caffe2_net::OperatorDef& op) {
  const auto* order = FindArgument(op, "order");
  return order != nullptr && order->s() == "NHWC";
}

/// Returns whether an operator's output has the dimensions of its first input, except for the sizes
/// in space.
bool KeepsChannels(const std::string& type) {
  static const std::set<std::string_view> kKeepers = {
      "Relu",        "Sigmoid",  "Tanh",          "Copy",         "Alias",
      "Scale",       "Clip",     "LeakyRelu",     "Elu",          "Abs",
      "Sqrt",        "Log",      "Exp",           "Negative",     "StopGradient",
      "Dropout",     "LRN",      "SpatialBN",     "InstanceNorm", "MaxPool",
      "AveragePool", "PadImage", "ResizeNearest", "HalfToFloat",  "PRelu"};
  return kKeepers.count(type) > 0;
}

/// Derives the shape of the first input of a product or convolution from its weight. Returns an
/// empty shape for other operators.
Shape ShapeForWeight(const BlobIndex& index, const caffe2_net::OperatorDef& op) {
  const Shape weight = index.FilledShape(op.input(1)).value_or(Shape());
  const std::string& type = op.type();
  if (type.starts_with("Conv") && weight.size() > 2) {
    Shape shape(weight.size(), -1);
    int64_t& channels = IsNhwc(op) ? shape.back() : shape[1];
    if (type.starts_with("ConvTranspose")) {
      channels = weight[0];
    } else if (FindArgument(op, "group") == nullptr) {
      channels = IsNhwc(op) ? weight.back() : weight[1];
    }
    return shape;
  }
  const auto* axis = FindArgument(op, "axis");
  if ((type == "FC" || type == "FCTransposed") && weight.size() == 2 &&
      (axis == nullptr || axis->i() == 1)) {
    return {-1, weight[type == "FC" ? 1 : 0]};
  }
  return {};
}

/// Reverts a change of dimension order on `shape`.
void TurnBack(bool to_channels_first, Shape* shape) {
  if (shape->size() > 2) {
    const auto begin = shape->begin() + 1;
    to_channels_first ? std::rotate(begin, begin + 1, shape->end())
                      : std::rotate(begin, shape->end() - 1, shape->end());
  }
}

/// Derives type and shape of an input from the operators that read it first, following operators
/// that keep the number of channels. The shape is empty if nothing can be derived.
NetInput Derive(const BlobIndex& index, const std::string& name) {
  constexpr int kLongestChain = 64;
  NetInput input{name, Type::kFloat, {}};
  std::string_view blob = name;
  std::vector<bool> turns;  // changes of dimension order on the way; true for NHWC to NCHW
  int next = 0;
  for (int step = 0; step < kLongestChain; ++step) {
    const int place = index.FirstReader(blob, next);
    if (place < 0) {
      return input;
    }
    const auto& op = index.Op(place);
    if (op.type() == "HalfToFloat") {
      input.type = Type::kHalf;
    }
    if (op.input(0) != blob || op.output_size() == 0) {
      return input;
    }
    if (op.type() == "NHWC2NCHW" || op.type() == "NCHW2NHWC") {
      turns.push_back(op.type() == "NHWC2NCHW");
    } else if (!KeepsChannels(op.type())) {
      input.shape = op.input_size() > 1 ? ShapeForWeight(index, op) : Shape();
      std::for_each(turns.rbegin(), turns.rend(), [&](bool turn) { TurnBack(turn, &input.shape); });
      return input;
    }
    blob = op.output(0);
    next = place + 1;
  }
  return input;
}

class Finder {
 public:
  Finder(const NetPair& nets, const ModelConfig& config, std::vector<NetInput>* inputs)
      : nets_(nets), config_(config), inputs_(*inputs) {}

  Error Find() {
    for (const backend::TensorConfig& given : config_.inputs) {
      NEREID_BACKEND_TRY(Add("input", given.name, given.data_type, given.ModelDims(),
                             !given.allow_ragged_batch && config_.batching()));
    }
    for (const backend::ControlConfig& control : config_.controls) {
      NEREID_BACKEND_TRY(
          Add("control input", control.name, control.data_type, {1}, config_.batching()));
    }
    for (const backend::StateConfig& state : config_.states) {
      NEREID_BACKEND_TRY(Add("state input", state.input_name, state.output.data_type,
                             state.output.ModelDims(), config_.batching()));
    }
    for (const backend::BatchInputConfig& made : config_.batch_inputs) {
      const size_t rank = made.kind == backend::BatchInputKind::kItemShape ? 2 : 1;
      for (const std::string& target : made.targets) {
        NEREID_BACKEND_TRY(Add("batch_input", target, made.data_type, Shape(rank, -1), false));
      }
    }
    return config_.inputs.empty() ? DeriveOthers() : Error();
  }

 private:
  Error Add(const char* kind, const std::string& name, TRITONSERVER_DataType type, Shape shape,
            bool batch) {
    const auto& external = nets_.predict.external_input();
    if (std::find(external.begin(), external.end(), name) == external.end()) {
      constexpr int kShown = 8;
      std::string names;
      for (int i = 0; i < std::min(external.size(), kShown); ++i) {
        names += (i == 0 ? "" : ", ") + NameText(external[i]);
      }
      names += external.size() > kShown ? " and more" : "";
      return Error::InvalidArgument("the net has no external_input '" + name + "', which the " +
                                    "configuration names as " + kind +
                                    "; it has: " + (names.empty() ? "none" : names));
    }
    NetInput& input = inputs_.emplace_back();
    input.name = name;
    input.type = FromConfig(type);
    if (input.type == Type::kNone) {
      return Error::Unsupported(std::string(kind) + " '" + name + "' has the data type " +
                                backend::DataTypeToConfig(type) +
                                ", which Caffe2 nets do not take");
    }
    input.shape = std::move(shape);
    if (batch) {
      input.shape.insert(input.shape.begin(), -1);
    }
    return {};
  }

  /// Returns whether the init net fills the blob with data. Exporters have it fill inputs with a
  /// single number as a placeholder; that does not count.
  static bool IsFilled(const BlobIndex& index, const NetInput& input) {
    const std::optional<Shape> filled = index.FilledShape(input.name);
    return filled && (input.shape.empty() || *filled != Shape{1});
  }

  Error DeriveOthers() {
    const BlobIndex index(nets_);
    std::set<std::string> known;
    for (const NetInput& input : inputs_) {
      known.insert(input.name);
    }
    for (const std::string& name : nets_.predict.external_input()) {
      if (!known.insert(name).second) {
        continue;
      }
      NetInput input = Derive(index, name);
      if (IsFilled(index, input)) {
        continue;
      }
      if (input.shape.empty()) {
        return Error::InvalidArgument(
            "the configuration must list the inputs: the net does not tell the dimensions of " +
            NameText(name));
      }
      inputs_.push_back(std::move(input));
    }
    return {};
  }

  const NetPair& nets_;
  const ModelConfig& config_;
  std::vector<NetInput>& inputs_;
};

}  // namespace

Error FindInputs(const NetPair& nets, const ModelConfig& config, std::vector<NetInput>* inputs) {
  return Finder(nets, config, inputs).Find();
}

}  // namespace nereid::caffe2
