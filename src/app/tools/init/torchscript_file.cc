// SPDX-License-Identifier: Apache-2.0
// Describes the method forward of a TorchScript file. The types and names are those that
// backends/pytorch accepts (its README.md).
#include "layout/torchscript_file.h"

#include <array>
#include <string_view>

#include "app/tools/init/model_files.h"

namespace nereid::app::tools {
namespace {

using base::Status;
using tensor::DataType;

struct NumberType {
  std::string_view type;
  DataType data_type;
};

/// The types of arguments that are not tensors. Each is an input of one element.
constexpr std::array<NumberType, 3> kNumbers = {
    {{"int", DataType::kInt64}, {"float", DataType::kFp64}, {"bool", DataType::kBool}}};

constexpr std::string_view kTexts = "List[str]";
constexpr std::string_view kDictionary = "Dict[str, Tensor]";

/// Returns "X" of "Optional[X]", and other types unchanged.
std::string_view WithoutOptional(std::string_view type) {
  constexpr std::string_view kOptional = "Optional[";
  if (!type.starts_with(kOptional) || !type.ends_with("]")) return type;
  return type.substr(kOptional.size(), type.size() - kOptional.size() - 1);
}

/// Sets the data type and dims that follow from a type of TorchScript. Returns false for types that
/// no tensor of the protocol can be.
bool ApplyType(std::string_view type, DraftTensor* tensor) {
  tensor->has_dims = false;
  if (type == "Tensor") return true;
  for (const NumberType& number : kNumbers) {
    if (type != number.type) continue;
    tensor->data_type = number.data_type;
    tensor->has_dims = true;
    tensor->dims = {1};
    return true;
  }
  if (type != kTexts) return false;
  tensor->data_type = DataType::kBytes;
  tensor->has_dims = true;
  tensor->dims = {-1};
  return true;
}

DraftTensor Example(const char* name) {
  DraftTensor tensor;
  tensor.name = name;
  tensor.has_dims = false;
  tensor.is_example = true;
  return tensor;
}

Status AddInputs(const layout::TorchScriptModule& module, ConfigDraft* draft) {
  if (module.arguments.size() == 1 && module.arguments[0].type == kDictionary) {
    draft->notes.emplace_back("forward takes a dictionary: list one input for each of its keys.");
    draft->inputs.push_back(Example("KEY"));
    return Status::Ok();
  }
  for (const layout::TorchScriptArgument& argument : module.arguments) {
    DraftTensor tensor;
    tensor.name = argument.name;
    const std::string_view type = WithoutOptional(argument.type);
    const bool can_be_left_out = argument.has_default || type != argument.type;
    if (!ApplyType(type, &tensor)) {
      const std::string what =
          "argument '" + argument.name + "' of forward has the type " + argument.type;
      if (!can_be_left_out) {
        return Status::InvalidArgument(what + ", which no request can carry");
      }
      draft->notes.push_back("Omitted: " + what + ", which no request can carry.");
      continue;
    }
    if (can_be_left_out) tensor.note = "forward has a default for it; it may be left out.";
    draft->inputs.push_back(std::move(tensor));
  }
  return Status::Ok();
}

void AddOutputs(const layout::TorchScriptModule& module, ConfigDraft* draft) {
  const bool is_dictionary = module.results.size() == 1 && module.results[0].starts_with("Dict[");
  const bool is_list = module.results.size() == 1 && module.results[0].starts_with("List[Tensor");
  if (is_dictionary) {
    draft->notes.emplace_back(
        "forward returns a dictionary: list one output for each of its keys.");
    draft->outputs.push_back(Example("KEY"));
    return;
  }
  if (is_list) {
    draft->notes.emplace_back("forward returns a list: list one output for each of its elements.");
  }
  for (size_t i = 0; i < module.results.size(); ++i) {
    DraftTensor tensor;
    tensor.name =
        i < module.result_names.size() ? module.result_names[i] : "OUTPUT__" + std::to_string(i);
    if (!ApplyType(is_list ? "Tensor" : WithoutOptional(module.results[i]), &tensor)) {
      draft->notes.push_back("Omitted: result " + std::to_string(i) + " of forward has the type " +
                             module.results[i] + ", which no response can carry.");
      continue;
    }
    draft->outputs.push_back(std::move(tensor));
  }
}

}  // namespace

Status ReadTorchScriptFile(const base::ByteSource& file, ConfigDraft* draft) {
  NEREID_ASSIGN_OR_RETURN(const layout::TorchScriptModule module, layout::ReadTorchScript(file));
  draft->is_skeleton = true;
  draft->notes.emplace_back(
      "A TorchScript file has no data types and dims of tensors: correct those below.");
  NEREID_RETURN_IF_ERROR(AddInputs(module, draft));
  AddOutputs(module, draft);
  if (!module.state.empty()) {
    std::string names;
    for (const std::string& name : module.state) names += (names.empty() ? "" : ", ") + name;
    draft->notes.push_back("The module keeps state between calls (" + names +
                           "), which all clients share: use sequence_batching with one instance, "
                           "or return the state.");
  }
  return Status::Ok();
}

}  // namespace nereid::app::tools
