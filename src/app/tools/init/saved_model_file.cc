// SPDX-License-Identifier: Apache-2.0
// The messages and field numbers of TensorFlow that this file reads:
//   SavedModel       meta_graphs 2         MetaGraphDef  signature_def 5 (map: key 1, value 2)
//   SignatureDef     inputs 1, outputs 2 (maps of TensorInfo)
//   TensorInfo       dtype 2, tensor_shape 3
//   TensorShapeProto dim 2 (size 1), unknown_rank 3
#include <map>

#include "app/tools/init/model_files.h"
#include "base/wire_fields.h"

namespace nereid::app::tools {
namespace {

using base::ForEachField;
using base::Status;
using base::WireField;
using tensor::DataType;

DataType TypeOf(uint64_t number) {
  static const std::map<uint64_t, DataType> kTypes = {
      {1, DataType::kFp32},    {2, DataType::kFp64},    {3, DataType::kInt32},
      {4, DataType::kUint8},   {5, DataType::kInt16},   {6, DataType::kInt8},
      {7, DataType::kBytes},   {9, DataType::kInt64},   {10, DataType::kBool},
      {14, DataType::kBf16},   {17, DataType::kUint16}, {19, DataType::kFp16},
      {22, DataType::kUint32}, {23, DataType::kUint64}};
  const auto found = kTypes.find(number);
  return found == kTypes.end() ? DataType::kInvalid : found->second;
}

// Reads the key and the value of a map entry.
bool ReadEntry(std::string_view bytes, std::string_view* key, std::string_view* value) {
  return ForEachField(bytes, [&](const WireField& field) {
    if (field.number == 1) *key = field.bytes;
    if (field.number == 2) *value = field.bytes;
    return true;
  });
}

bool ReadShape(std::string_view bytes, DraftTensor* tensor) {
  tensor->has_dims = true;
  return ForEachField(bytes, [&](const WireField& field) {
    if (field.number == 3 && field.varint != 0) tensor->has_dims = false;
    if (field.number != 2) return true;
    int64_t size = 0;
    const bool read = ForEachField(field.bytes, [&](const WireField& dim) {
      if (dim.number == 1) size = static_cast<int64_t>(dim.varint);
      return true;
    });
    tensor->dims.push_back(size < 1 ? -1 : size);
    return read;
  });
}

bool ReadTensor(std::string_view entry, std::map<std::string, DraftTensor>* tensors) {
  std::string_view key;
  std::string_view info;
  if (!ReadEntry(entry, &key, &info)) return false;
  DraftTensor tensor;
  tensor.name = key;
  tensor.has_dims = false;  // until there is a shape
  const bool read = ForEachField(info, [&](const WireField& field) {
    if (field.number == 2) tensor.data_type = TypeOf(field.varint);
    return field.number != 3 || ReadShape(field.bytes, &tensor);
  });
  (*tensors)[tensor.name] = std::move(tensor);
  return read;
}

struct Signature {
  // Sorted, so that the output does not depend on the order in the file.
  std::map<std::string, DraftTensor> inputs;
  std::map<std::string, DraftTensor> outputs;
};

bool ReadSignature(std::string_view bytes, Signature* signature) {
  return ForEachField(bytes, [&](const WireField& field) {
    if (field.number == 1) return ReadTensor(field.bytes, &signature->inputs);
    return field.number != 2 || ReadTensor(field.bytes, &signature->outputs);
  });
}

bool ReadSignatures(std::string_view meta_graph, std::map<std::string, Signature>* signatures) {
  return ForEachField(meta_graph, [&](const WireField& field) {
    if (field.number != 5) return true;
    std::string_view key;
    std::string_view value;
    if (!ReadEntry(field.bytes, &key, &value)) return false;
    Signature signature;
    if (!ReadSignature(value, &signature)) return false;
    // If several graphs have the signature, the first one is used. Signatures without outputs are
    // internal to TensorFlow.
    if (!signature.outputs.empty()) signatures->try_emplace(std::string(key), std::move(signature));
    return true;
  });
}

}  // namespace

Status ReadSavedModel(std::string_view bytes, ConfigDraft* draft) {
  std::map<std::string, Signature> signatures;
  const bool read = ForEachField(bytes, [&](const WireField& field) {
    return field.number != 2 || ReadSignatures(field.bytes, &signatures);
  });
  if (!read) return Status::InvalidArgument("the file is not a TensorFlow saved model");
  if (signatures.empty()) {
    return Status::InvalidArgument("the saved model has no signature with outputs");
  }
  const auto serving = signatures.find("serving_default");
  const auto& [name, signature] = serving == signatures.end() ? *signatures.begin() : *serving;
  draft->notes.push_back("Inputs and outputs of the signature '" + name + "'.");
  for (const auto& [key, tensor] : signature.inputs) draft->inputs.push_back(tensor);
  for (const auto& [key, tensor] : signature.outputs) draft->outputs.push_back(tensor);
  return Status::Ok();
}

}  // namespace nereid::app::tools
