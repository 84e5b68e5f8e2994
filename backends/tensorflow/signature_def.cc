// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/signature_def.h"

#include <utility>

#include "framework/printable.h"
#include "tensorflow/wire.h"

namespace nereid::tensorflow {
namespace {

// Field numbers: MetaGraphDef.signature_def = 5; SignatureDef.inputs = 1, outputs = 2; map entries
// key = 1, value = 2; TensorInfo.name = 1, tensor_shape = 3; TensorShapeProto.dim = 2, unknown_rank
// = 3; Dim.size = 1, which is omitted if it is 0.

/// Reads an entry of a map<string, V>.
std::pair<std::string, std::string_view> ReadEntry(std::string_view bytes) {
  std::pair<std::string, std::string_view> entry;
  for (WireReader reader(bytes); reader.Next();) {
    if (reader.field() == 1) {
      entry.first = reader.text();
    } else if (reader.field() == 2) {
      entry.second = reader.text();
    }
  }
  return entry;
}

/// The largest number of dimensions of a TensorFlow tensor.
constexpr size_t kMaxDims = 254;

std::optional<std::vector<int64_t>> ReadShape(std::string_view tensor_shape) {
  std::vector<int64_t> dims;
  for (WireReader reader(tensor_shape); reader.Next();) {
    if (reader.field() == 3 && reader.number() != 0) {
      return std::nullopt;
    }
    if (reader.field() != 2) {
      continue;
    }
    int64_t size = 0;
    for (WireReader dim(reader.text()); dim.Next();) {
      size = dim.field() == 1 ? dim.signed_number() : size;
    }
    dims.push_back(size < 0 ? -1 : size);
    if (dims.size() > kMaxDims) {
      return std::nullopt;
    }
  }
  return dims;
}

TensorInfo ReadTensorInfo(std::string_view tensor_info) {
  TensorInfo info;
  for (WireReader reader(tensor_info); reader.Next();) {
    if (reader.field() == 1) {
      info.tensor = reader.text();
    } else if (reader.field() == 3) {
      info.dims = ReadShape(reader.text());
    }
  }
  return info;
}

SignatureDef ReadSignature(std::string_view bytes) {
  SignatureDef signature;
  for (WireReader reader(bytes); reader.Next();) {
    if (reader.field() != 1 && reader.field() != 2) {
      continue;
    }
    const auto [key, bytes_of_info] = ReadEntry(reader.text());
    // A tensor with another encoding (sparse, composite) has no name and cannot be served.
    if (TensorInfo info = ReadTensorInfo(bytes_of_info); !info.tensor.empty()) {
      (reader.field() == 1 ? signature.inputs : signature.outputs)[key] = std::move(info);
    }
  }
  return signature;
}

}  // namespace

std::map<std::string, SignatureDef> ReadSignatures(std::string_view meta_graph) {
  std::map<std::string, SignatureDef> signatures;
  for (WireReader reader(meta_graph); reader.Next();) {
    if (reader.field() == 5) {
      const auto [name, bytes] = ReadEntry(reader.text());
      signatures[name] = ReadSignature(bytes);
    }
  }
  return signatures;
}

Error ChooseSignature(const std::map<std::string, SignatureDef>& signatures,
                      const std::string& wanted, const std::string& model,
                      SignatureDef* signature) {
  const auto named = signatures.find(wanted.empty() ? "serving_default" : wanted);
  if (named != signatures.end()) {
    *signature = named->second;
    return {};
  }
  std::string names;
  for (const auto& [name, candidate] : signatures) {
    if (wanted.empty() && !candidate.inputs.empty() && !candidate.outputs.empty()) {
      *signature = candidate;
      return {};
    }
    names += (names.empty() ? "'" : ", '") + framework::Printable(name, 200) + "'";
  }
  return Error(TRITONSERVER_ERROR_NOT_FOUND,
               "model '" + model + "': the SavedModel has no signature " +
                   (wanted.empty() ? "with inputs and outputs" : "'" + wanted + "'") +
                   "; its signatures are: " + (names.empty() ? "none" : names) +
                   " (parameter TF_SIGNATURE_DEF)");
}

}  // namespace nereid::tensorflow
