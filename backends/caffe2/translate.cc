// SPDX-License-Identifier: Apache-2.0
#include "caffe2/translate.h"

#include <algorithm>

#include "caffe2/operator.h"

namespace nereid::caffe2 {
namespace {

/// The largest number of elements of a tensor. A larger one is a mistake.
constexpr int64_t kMaxElements = int64_t{1} << 38;
/// The largest number of dimensions.
constexpr size_t kMaxDimensions = 64;
/// The largest number of nodes. ONNX Runtime takes minutes to open a larger graph.
constexpr int kMaxNodes = 200000;

std::string InputList(const caffe2_net::OperatorDef& def) {
  constexpr int kShown = 8;
  std::string text;
  for (int i = 0; i < std::min(def.input_size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + NameText(def.input(i));
  }
  if (def.input_size() > kShown) {
    text += " and " + std::to_string(def.input_size() - kShown) + " more";
  }
  return text.empty() ? "no inputs" : (def.input_size() == 1 ? "the input " : "the inputs ") + text;
}

/// Returns whether a tensor may have this shape; -1 is any size.
bool IsPossible(const Shape& shape) {
  int64_t size = 1;
  for (const int64_t dim : shape) {
    if (dim < -1 || dim > kMaxElements) {
      return false;
    }
    if (__builtin_mul_overflow(size, std::max<int64_t>(dim, 1), &size) || size > kMaxElements) {
      return false;
    }
  }
  return shape.size() <= kMaxDimensions;
}

/// Returns a name that is not in `taken`: in an ONNX graph an output must not have the name of an
/// input.
std::string OutputName(const std::string& name, const std::set<std::string>& taken) {
  std::string unique = name;
  while (taken.count(unique) > 0) {
    unique += "#out";
  }
  return unique;
}

class Translator {
 public:
  Translator(const NetPair& nets, std::set<std::string> reserved, int64_t room)
      : nets_(nets),
        graph_(nets.predict.name(), std::move(reserved)),
        fill_room_(room),
        room_(room) {}

  Error Run(const std::vector<NetInput>& inputs,
            const std::vector<std::pair<std::string, std::string>>& outputs) {
    NEREID_BACKEND_TRY(RunNet(nets_.init, "init net"));
    for (const NetInput& input : inputs) {
      if (!IsPossible(input.shape)) {
        return Error::InvalidArgument("the input " + NameText(input.name) +
                                      " cannot have the shape " + ShapeText(input.shape));
      }
      blobs_[input.name] = graph_.Input(input.name, input.type, input.shape);
    }
    for (const std::string& name : nets_.predict.external_input()) {
      if (blobs_.count(name) == 0) {
        return Error::InvalidArgument(
            "the net needs the blob " + NameText(name) +
            ", which neither the init net writes nor the configuration lists as an input");
      }
    }
    NEREID_BACKEND_TRY(RunNet(nets_.predict, "net"));
    for (const auto& [name, graph_name] : outputs) {
      const auto found = blobs_.find(name);
      if (found == blobs_.end()) {
        return Error::InvalidArgument("nothing writes the output " + NameText(name) +
                                      " of the net");
      }
      graph_.Output(graph_name, found->second);
    }
    return {};
  }

  std::string Serialize() const { return graph_.Serialize(); }

 private:
  Error RunNet(const caffe2_net::NetDef& net, const char* where) {
    for (const auto& def : net.op()) {
      NEREID_BACKEND_TRY(RunOperator(def, where));
    }
    return {};
  }

  Error RunOperator(const caffe2_net::OperatorDef& def, const char* where) {
    const OperatorRow* row = FindOperator(def.type());
    if (row == nullptr) {
      return Error::Unsupported(OperatorText(def) + " with " + InputList(def) + " in the " + where +
                                " is not supported");
    }
    std::vector<Value> inputs;
    for (const std::string& name : def.input()) {
      const auto found = blobs_.find(name);
      if (found == blobs_.end()) {
        return Error::InvalidArgument(OperatorText(def) + " in the " + where + " reads the blob " +
                                      NameText(name) + ", which nothing before it writes");
      }
      inputs.push_back(found->second);
    }
    if (inputs.size() < row->least_inputs || inputs.size() > row->most_inputs) {
      return Error::InvalidArgument(OperatorText(def) + " has " + InputList(def) + ", which are " +
                                    (inputs.size() < row->least_inputs ? "too few" : "too many"));
    }
    graph_.SetContext(OperatorText(def));
    Operator op(def, std::move(inputs), &graph_, &room_);
    NEREID_BACKEND_TRY(row->translate(op));
    if (graph_.nodes() > kMaxNodes) {
      return op.Bad("with it, the net becomes more than " + std::to_string(kMaxNodes) +
                    " ONNX nodes");
    }
    if (graph_.largest_constant() > fill_room_) {
      return op.Bad("it computes " + std::to_string(graph_.largest_constant()) +
                    " bytes before the first run; " + std::to_string(fill_room_) + " are the most");
    }
    for (int i = 0; i < def.output_size(); ++i) {
      const std::optional<Value>& result = op.results()[static_cast<size_t>(i)];
      if (!result) {
        blobs_.erase(def.output(i));
        continue;
      }
      if (!IsPossible(result->shape)) {
        return op.Bad("its output would have the shape " + ShapeText(result->shape));
      }
      blobs_[def.output(i)] = *result;
    }
    return {};
  }

  const NetPair& nets_;
  Graph graph_;
  const int64_t fill_room_;
  /// The part of it that is left.
  int64_t room_;
  /// The current value of each blob: the result of the last write.
  std::map<std::string, Value> blobs_;
};

}  // namespace

Error TranslateNets(const NetPair& nets, const std::vector<NetInput>& inputs, int64_t fill_room,
                    Translation* translation) {
  std::set<std::string> taken;
  for (const NetInput& input : inputs) {
    if (!taken.insert(input.name).second) {
      return Error::InvalidArgument("the input " + NameText(input.name) + " is listed twice");
    }
  }
  std::vector<std::pair<std::string, std::string>> outputs;
  std::set<std::string> seen;
  for (const std::string& name : nets.predict.external_output()) {
    if (!seen.insert(name).second) {
      continue;
    }
    const std::string unique = OutputName(name, taken);
    taken.insert(unique);
    outputs.emplace_back(name, unique);
    if (unique != name) {
      translation->output_names[unique] = name;
    }
  }
  if (outputs.empty()) {
    return Error::InvalidArgument("the net has no external_output");
  }
  Translator translator(nets, taken, fill_room);
  NEREID_BACKEND_TRY(translator.Run(inputs, outputs));
  translation->model = translator.Serialize();
  if (translation->model.empty()) {
    return Error::InvalidArgument("the net's weights exceed two gigabytes");
  }
  return {};
}

}  // namespace nereid::caffe2
