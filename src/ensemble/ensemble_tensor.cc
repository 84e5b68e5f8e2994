// SPDX-License-Identifier: Apache-2.0
#include "ensemble/ensemble_tensor.h"

#include <utility>
#include <variant>

namespace nereid::ensemble {
namespace {

using request::Parameter;

void SetFlag(uint32_t flag, const Parameter::Value& value, uint32_t* flags) {
  if (const bool* on = std::get_if<bool>(&value)) *flags = *on ? *flags | flag : *flags & ~flag;
}

}  // namespace

TensorPtr ViewInput(const request::Input& input, bool batching, const SequenceFields& sequence) {
  auto tensor = std::make_shared<EnsembleTensor>();
  tensor->type = input.type;
  tensor->shape = input.model_shape;
  tensor->batching = batching;
  tensor->pieces = input.pieces;
  tensor->sequence = sequence;
  return tensor;
}

TensorPtr TakeOutput(request::Output& output, bool batching, const SequenceFields& sequence) {
  auto tensor = std::make_shared<EnsembleTensor>();
  tensor->type = output.type;
  tensor->shape = std::move(output.shape);
  tensor->batching = batching;
  tensor->sequence = sequence;
  tensor->buffer = std::move(output.owned);
  tensor->device = std::move(output.device);
  tensor->lender = std::move(output.lender);
  tensor->data = output.data;
  tensor->size = output.size;
  tensor->memory_type = output.memory_type;
  tensor->memory_type_id = output.memory_type_id;
  if (output.size > 0) {
    tensor->pieces.push_back({output.data, output.size, output.memory_type, output.memory_type_id});
  }
  return tensor;
}

SequenceFields WithParameters(SequenceFields fields, const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters) {
    if (parameter.name == "sequence_id") {
      if (const int64_t* number = std::get_if<int64_t>(&parameter.value)) {
        fields.correlation_id = static_cast<uint64_t>(*number);
      } else if (const std::string* text = std::get_if<std::string>(&parameter.value)) {
        fields.correlation_id = *text;
      }
    } else if (parameter.name == "sequence_start") {
      SetFlag(request::kFlagSequenceStart, parameter.value, &fields.flags);
    } else if (parameter.name == "sequence_end") {
      SetFlag(request::kFlagSequenceEnd, parameter.value, &fields.flags);
    }
  }
  return fields;
}

std::vector<Parameter> ToParameters(const SequenceFields& fields) {
  Parameter id{"sequence_id", int64_t{0}};
  if (const uint64_t* number = std::get_if<uint64_t>(&fields.correlation_id)) {
    id.value = static_cast<int64_t>(*number);
  } else {
    id.value = std::get<std::string>(fields.correlation_id);
  }
  return {std::move(id),
          {"sequence_start", (fields.flags & request::kFlagSequenceStart) != 0},
          {"sequence_end", (fields.flags & request::kFlagSequenceEnd) != 0}};
}

}  // namespace nereid::ensemble
