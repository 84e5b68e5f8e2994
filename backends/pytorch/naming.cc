// SPDX-License-Identifier: Apache-2.0
#include "pytorch/naming.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "framework/mismatch.h"
#include "nereid/backend/data_type.h"

namespace nereid::pytorch {
namespace {

/// Returns the number after the last "__"; nothing if the name has another form.
std::optional<size_t> PlaceIn(const std::string& name) {
  const size_t at = name.rfind("__");
  if (at == std::string::npos) {
    return std::nullopt;
  }
  size_t place = 0;
  const char* end = name.data() + name.size();
  const auto [rest, failure] = std::from_chars(name.data() + at + 2, end, place);
  return failure == std::errc() && rest == end ? std::optional(place) : std::nullopt;
}

/// Returns the index of the argument or result with this name, else the index in the name.
std::optional<size_t> FindPlace(const std::string& name, const std::vector<std::string>& known) {
  const auto found = std::find(known.begin(), known.end(), name);
  return found == known.end() ? PlaceIn(name) : std::optional<size_t>(found - known.begin());
}

/// Returns the indices of all tensors, or 0, 1, ... if one of them has none.
std::vector<size_t> PlacesOf(const std::vector<NamedTensor>& tensors,
                             const std::vector<std::string>& known) {
  std::vector<size_t> places(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::optional<size_t> place = FindPlace(tensors[i].name, known);
    if (!place) {
      std::iota(places.begin(), places.end(), size_t{0});
      return places;
    }
    places[i] = *place;
  }
  return places;
}

class Matcher {
 public:
  Matcher(const std::string& model, const ForwardSignature& forward)
      : model_(model), forward_(forward) {}

  Error Inputs(const std::vector<NamedTensor>& inputs, Naming* naming) const {
    naming->dictionary = forward_.takes_dictionary();
    if (naming->dictionary) {
      naming->arguments.assign(inputs.size(), 0);
      return CheckDictionary(inputs);
    }
    std::vector<std::string> names;
    for (const Argument& argument : forward_.arguments) {
      names.push_back(argument.name);
    }
    if (inputs.size() > names.size()) {
      return framework::WrongInputCount(model_, inputs.size(), names.size());
    }
    naming->arguments = PlacesOf(inputs, names);
    std::vector<const std::string*> taken(names.size(), nullptr);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const size_t place = naming->arguments[i];
      if (place >= names.size()) {
        return Bad("input '" + inputs[i].name + "' would be argument " + std::to_string(place) +
                   " of forward, counted from 0, which has " + std::to_string(names.size()) +
                   "; name the inputs after its arguments, or <name>__<place>");
      }
      if (taken[place] != nullptr) {
        return Bad("the inputs '" + *taken[place] + "' and '" + inputs[i].name +
                   "' are both the argument '" + names[place] + "'");
      }
      taken[place] = &inputs[i].name;
      NEREID_BACKEND_TRY(CheckArgument(inputs[i], forward_.arguments[place]));
    }
    for (size_t place = 0; place < names.size(); ++place) {
      const Argument& argument = forward_.arguments[place];
      if (taken[place] == nullptr && !argument.can_be_left_out()) {
        if (inputs.size() != names.size()) {
          return framework::WrongInputCount(model_, inputs.size(), names.size());
        }
        return Bad("no input of the configuration is the argument '" + argument.name + "' (" +
                   argument.type.text + "), which has no default");
      }
    }
    return {};
  }

  Error Outputs(const std::vector<NamedTensor>& outputs, Naming* naming) const {
    const Results& results = forward_.results;
    naming->results = PlacesOf(outputs, results.names);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const bool by_name = results.form == Results::Form::kDictionary;
      NEREID_BACKEND_TRY(CheckResult(outputs[i], by_name ? 0 : naming->results[i]));
    }
    return {};
  }

 private:
  Error Bad(const std::string& text) const {
    return Error::InvalidArgument("model '" + model_ + "': " + text + ". The model has " +
                                  forward_.Text());
  }

  Error CheckDictionary(const std::vector<NamedTensor>& inputs) const {
    for (const NamedTensor& input : inputs) {
      if (input.data_type == TRITONSERVER_TYPE_BYTES) {
        return Bad("input '" + input.name + "' is TYPE_STRING, but forward takes tensors by name");
      }
    }
    return {};
  }

  static std::string Wanted(const NamedTensor& tensor) {
    return tensor.data_type == TRITONSERVER_TYPE_BYTES
               ? "TYPE_STRING, a List[str] in TorchScript"
               : backend::DataTypeToConfig(tensor.data_type) + ", a Tensor in TorchScript";
  }

  static bool Fits(const NamedTensor& tensor, const ValueType& type) {
    const bool text = tensor.data_type == TRITONSERVER_TYPE_BYTES;
    return type.kind == ValueKind::kUnknown ||
           type.kind == (text ? ValueKind::kTexts : ValueKind::kTensor);
  }

  /// Returns whether an input of this type may be passed as a number; it must have one element
  /// then.
  static bool FitsNumber(TRITONSERVER_DataType type, ValueKind kind) {
    switch (kind) {
      case ValueKind::kInteger:
        return type == TRITONSERVER_TYPE_INT64 || type == TRITONSERVER_TYPE_INT32;
      case ValueKind::kFloat:
        return type == TRITONSERVER_TYPE_FP64 || type == TRITONSERVER_TYPE_FP32;
      case ValueKind::kBool:
        return type == TRITONSERVER_TYPE_BOOL;
      default:
        return false;
    }
  }

  Error CheckArgument(const NamedTensor& input, const Argument& argument) const {
    if (Fits(input, argument.type) || FitsNumber(input.data_type, argument.type.kind)) {
      return {};
    }
    return Bad("input '" + input.name + "' is " + Wanted(input) + ", but the argument '" +
               argument.name + "' is " + argument.type.text);
  }

  Error CheckResult(const NamedTensor& output, size_t place) const {
    const Results& results = forward_.results;
    if (results.form == Results::Form::kUnknown) {
      return {};
    }
    const bool any_length = results.form == Results::Form::kList;
    if (!any_length && place >= results.elements.size()) {
      return Bad("output '" + output.name + "' would be result " + std::to_string(place) +
                 " of forward, counted from 0, which returns " +
                 std::to_string(results.elements.size()));
    }
    const ValueType& type = results.elements[any_length ? 0 : place];
    if (Fits(output, type)) {
      return {};
    }
    return Bad("output '" + output.name + "' is " + Wanted(output) + ", but forward returns " +
               type.text + " there");
  }

  const std::string& model_;
  const ForwardSignature& forward_;
};

}  // namespace

std::string ForwardSignature::Text() const {
  std::string text;
  for (const Argument& argument : arguments) {
    text += (text.empty() ? "" : ", ") + argument.name + ": " + argument.type.text +
            (argument.has_default ? " = ..." : "");
  }
  return "forward(" + text + ") -> " + results.text;
}

Error MakeNaming(const std::string& model, const std::vector<NamedTensor>& inputs,
                 const std::vector<NamedTensor>& outputs, const ForwardSignature& forward,
                 Naming* naming) {
  const Matcher matcher(model, forward);
  NEREID_BACKEND_TRY(matcher.Inputs(inputs, naming));
  return matcher.Outputs(outputs, naming);
}

}  // namespace nereid::pytorch
