// SPDX-License-Identifier: Apache-2.0
#include "pytorch/results.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>

#include "pytorch/gpu_run.h"
#include "pytorch/torch_types.h"

namespace nereid::pytorch {
namespace {

using framework::OutputTensor;

/// Returns whether the value is a list of strings, which is one output. Any other list is several
/// outputs.
bool IsTexts(const c10::IValue& value) {
  return value.isList() && value.toList().elementType()->kind() == c10::TypeKind::StringType;
}

bool IsSeveral(const c10::IValue& value) {
  return value.isTuple() || (value.isList() && !IsTexts(value));
}

size_t CountOf(const c10::IValue& several) {
  return several.isTuple() ? several.toTupleRef().elements().size() : several.toList().size();
}

c10::IValue ElementOf(const c10::IValue& several, size_t place) {
  return several.isTuple() ? several.toTupleRef().elements()[place] : several.toList().get(place);
}

}  // namespace

Error ReturnedValues::Bad(const std::string& text) const {
  return Error::Internal("model '" + plan_.run.model_name + "': " + text);
}

Error ReturnedValues::Find(size_t output, c10::IValue* value) const {
  const std::string& name = plan_.run.outputs[output].name;
  const size_t place = plan_.naming.results[output];
  if (returned_.isGenericDict()) {
    const auto dictionary = returned_.toGenericDict();
    const auto found = dictionary.find(name);
    if (found == dictionary.end()) {
      return Bad("forward returned a dictionary without the key '" + name + "'");
    }
    *value = found->value();
    return {};
  }
  const bool several = IsSeveral(returned_);
  const size_t count = several ? CountOf(returned_) : 1;
  if (place >= count) {
    return Bad("output '" + name + "' would be result " + std::to_string(place) +
               " of forward, counted from 0, which returned " + std::to_string(count));
  }
  *value = several ? ElementOf(returned_, place) : returned_;
  return {};
}

Error ReturnedValues::Read(size_t output, OutputTensor* tensor) const {
  c10::IValue value;
  NEREID_BACKEND_TRY(Find(output, &value));
  const framework::PlannedOutput& plan = plan_.run.outputs[output];
  return ReadValue(plan.name, value, plan.scalar, tensor);
}

Error ReturnedValues::ReadAll(std::vector<OutputTensor>* tensors) const {
  const auto add = [&](std::string name, const c10::IValue& value) {
    OutputTensor* tensor = &tensors->emplace_back();
    tensor->name = std::move(name);
    return ReadValue(tensor->name, value, /*flat=*/false, tensor);
  };
  if (returned_.isGenericDict()) {
    for (const auto& entry : returned_.toGenericDict()) {
      if (!entry.key().isString()) {
        return Bad("forward returned a dictionary whose keys are " + entry.key().tagKind() +
                   " instead of texts");
      }
      NEREID_BACKEND_TRY(add(entry.key().toStringRef(), entry.value()));
    }
    return {};
  }
  if (!IsSeveral(returned_)) {
    return add("OUTPUT__0", returned_);
  }
  for (size_t i = 0; i < CountOf(returned_); ++i) {
    NEREID_BACKEND_TRY(add("OUTPUT__" + std::to_string(i), ElementOf(returned_, i)));
  }
  return {};
}

Error ReturnedValues::ReadValue(const std::string& name, const c10::IValue& value, bool flat,
                                OutputTensor* tensor) const {
  if (value.isTensor()) {
    return ReadTensor(name, value.toTensor(), tensor);
  }
  if (value.isList()) {
    return ReadTexts(name, value, flat, tensor);
  }
  return Bad("output '" + name + "' is neither a tensor nor a list of texts but " +
             value.tagKind());
}

/// Describes a tensor, which the framework's scatter copies into the response. Only a tensor that
/// is not contiguous is copied here first.
Error ReturnedValues::ReadTensor(const std::string& name, const at::Tensor& value,
                                 OutputTensor* tensor) const {
  const auto refuse = [&](const std::string& what) {
    return Bad("output '" + name + "' is " + what + ", which no response can carry");
  };
  if (!value.defined()) {
    return refuse("an undefined tensor");
  }
  const TRITONSERVER_DataType type = DataTypeOf(value.scalar_type());
  if (type == TRITONSERVER_TYPE_INVALID) {
    return refuse(std::string("a tensor of ") + c10::toString(value.scalar_type()));
  }
  if (value.layout() != c10::kStrided || value.is_nested()) {
    return refuse("a sparse or nested tensor");
  }
  if (!value.device().is_cpu() && !value.device().is_cuda()) {
    return refuse("a tensor on the device " + value.device().str());
  }
  // A zero tensor has no memory, and the memory of a conjugate or negative view holds other values.
  at::Tensor plain = value._is_zerotensor()
                         ? at::zeros(value.sizes(), c10::TensorOptions().dtype(value.scalar_type()))
                         : value;
  plain = plain.resolve_conj().resolve_neg().contiguous();
  if (plain.device().is_cuda() && tensor->wanted_on_gpu) {
    tensor->gpu = plain.device().index();
  } else if (plain.device().is_cuda()) {
    plain = CopyToHost(plain);
  }
  tensor->data_type = type;
  tensor->shape.assign(plain.sizes().begin(), plain.sizes().end());
  tensor->size = plain.nbytes();
  tensor->data = static_cast<const char*>(plain.const_data_ptr());
  if (tensor->data == nullptr && tensor->size != 0) {
    return refuse("a tensor without memory");
  }
  tensor->owner = std::make_shared<const at::Tensor>(std::move(plain));
  return {};
}

Error ReturnedValues::ReadTexts(const std::string& name, const c10::IValue& value, bool flat,
                                OutputTensor* tensor) const {
  const auto list = std::make_shared<c10::IValue>(value);
  for (const c10::IValue& element : list->toListRef()) {
    if (!element.isString()) {
      return Bad("output '" + name + "' is a list of " + element.tagKind() + " instead of texts");
    }
    tensor->texts.emplace_back(element.toStringRef());
  }
  tensor->data_type = TRITONSERVER_TYPE_BYTES;
  tensor->shape.assign(1, static_cast<int64_t>(tensor->texts.size()));
  if (plan_.run.batching && !flat) {
    tensor->shape.push_back(1);
  }
  tensor->owner = list;
  return {};
}

}  // namespace nereid::pytorch
