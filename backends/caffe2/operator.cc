// SPDX-License-Identifier: Apache-2.0
#include "caffe2/operator.h"

#include <algorithm>

namespace nereid::caffe2 {

std::string OperatorText(const caffe2_net::OperatorDef& def) {
  const std::string quoted = NameText(def.type());
  std::string text =
      "operator " + (def.type().empty() ? "without a type" : quoted.substr(1, quoted.size() - 2));
  if (def.output_size() > 0) {
    text += " of output " + NameText(def.output(0));
  } else if (def.input_size() > 0) {
    text += " of input " + NameText(def.input(0));
  }
  return text;
}

Operator::Operator(const caffe2_net::OperatorDef& def, std::vector<Value> inputs, Graph* graph,
                   int64_t* room)
    : def_(def),
      inputs_(std::move(inputs)),
      outputs_(static_cast<size_t>(def.output_size())),
      graph_(*graph),
      room_(*room) {}

bool Operator::constant() const {
  return std::all_of(inputs_.begin(), inputs_.end(),
                     [](const Value& input) { return input.constant; });
}

void Operator::Set(size_t i, Value value) {
  if (i < outputs_.size()) {
    outputs_[i] = std::move(value);
  }
}

Error Operator::Bad(const std::string& reason) const {
  return Error::InvalidArgument(OperatorText(def_) + ": " + reason);
}

const caffe2_net::Argument* Operator::Find(std::string_view name) const {
  const caffe2_net::Argument* found = nullptr;
  for (const auto& argument : def_.arg()) {
    if (argument.name() == name) {
      found = &argument;
    }
  }
  return found;
}

int64_t Operator::Int(std::string_view name, int64_t otherwise) const {
  const auto* argument = Find(name);
  return argument != nullptr && argument->has_i() ? argument->i() : otherwise;
}

float Operator::Float(std::string_view name, float otherwise) const {
  const auto* argument = Find(name);
  if (argument == nullptr) {
    return otherwise;
  }
  return argument->has_f()   ? argument->f()
         : argument->has_i() ? static_cast<float>(argument->i())
                             : otherwise;
}

std::string Operator::Text(std::string_view name, std::string_view otherwise) const {
  const auto* argument = Find(name);
  return argument != nullptr && argument->has_s() ? argument->s() : std::string(otherwise);
}

std::vector<int64_t> Operator::Ints(std::string_view name) const {
  const auto* argument = Find(name);
  if (argument == nullptr) {
    return {};
  }
  return {argument->ints().begin(), argument->ints().end()};
}

Error Operator::ReadOrder(bool* channels_last) const {
  const std::string order = Text("order", "NCHW");
  if (order != "NCHW" && order != "NHWC") {
    return Bad("the argument 'order' is " + NameText(order) + ", not NCHW or NHWC");
  }
  *channels_last = order == "NHWC";
  return {};
}

Error Operator::CheckAxis(std::string_view name, int64_t given, size_t rank, size_t* axis) const {
  const auto size = static_cast<int64_t>(rank);
  if (given < -size || given >= size) {
    return Bad("the argument '" + std::string(name) + "' is " + std::to_string(given) +
               ", which a tensor of " + std::to_string(rank) + " dimensions lacks");
  }
  *axis = static_cast<size_t>(given < 0 ? given + size : given);
  return {};
}

Error Operator::ReadAxis(std::string_view name, int64_t otherwise, size_t rank,
                         size_t* axis) const {
  return CheckAxis(name, Int(name, otherwise), rank, axis);
}

Error Operator::ReadAxes(std::string_view name, size_t rank, std::vector<int64_t>* axes) const {
  axes->clear();
  for (const int64_t given : Ints(name)) {
    size_t axis = 0;
    NEREID_BACKEND_TRY(CheckAxis(name, given, rank, &axis));
    axes->push_back(static_cast<int64_t>(axis));
  }
  std::sort(axes->begin(), axes->end());
  if (std::adjacent_find(axes->begin(), axes->end()) != axes->end()) {
    return Bad("the argument '" + std::string(name) + "' names an axis twice");
  }
  return {};
}

Error Operator::NeedRank(size_t i, size_t least) const {
  if (inputs_[i].rank() < least) {
    return Bad("input " + NameText(def_.input(static_cast<int>(i))) + " has the shape " +
               ShapeText(inputs_[i].shape) + "; at least " + std::to_string(least) +
               " dimensions are needed");
  }
  return {};
}

Error Operator::Take(int64_t bytes) const {
  if (bytes < 0 || bytes > room_) {
    return Bad("its output is too large: " + std::to_string(room_) +
               " bytes are left of what a net may fill");
  }
  room_ -= bytes;
  return {};
}

std::vector<const Rows*> AllRows() {
  return {&ArithmeticRows(), &ActivationRows(), &CastRows(),   &ConvolutionRows(),   &FillRows(),
          &ImageRows(),      &JoinRows(),       &MatrixRows(), &NormalizationRows(), &PoolingRows(),
          &ReductionRows(),  &SelectionRows(),  &ShapeRows()};
}

const OperatorRow* FindOperator(std::string_view type) {
  static const std::map<std::string_view, const OperatorRow*> table = [] {
    std::map<std::string_view, const OperatorRow*> made;
    for (const Rows* rows : AllRows()) {
      for (const OperatorRow& row : *rows) {
        made.emplace(row.type, &row);
      }
    }
    return made;
  }();
  const auto found = table.find(type);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace nereid::caffe2
