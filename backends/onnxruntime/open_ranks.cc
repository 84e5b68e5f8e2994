// SPDX-License-Identifier: Apache-2.0
// The messages and field numbers of onnx.proto that this file reads:
//   ModelProto      graph 7           GraphProto  input 11, output 12 (ValueInfoProto)
//   ValueInfoProto  name 1, type 2    TypeProto   tensor_type 1, optional_type 9 (elem_type 1)
//   Tensor          shape 2
#include "onnxruntime/open_ranks.h"

#include <algorithm>
#include <string_view>

#include "base/wire_fields.h"
#include "base/wire_scan.h"

namespace nereid::onnxruntime {
namespace {

using base::WireField;
using framework::TensorSignature;

/// A description of an input takes a few hundred bytes.
constexpr uint64_t kMaxValueBytes = uint64_t{1} << 20;

/// Returns whether a TypeProto is a tensor, or optional(tensor), without a shape.
bool IsOpen(std::string_view type, bool in_optional) {
  bool is_tensor = false;
  bool has_shape = false;
  bool optional_is_open = false;
  base::ForEachField(type, [&](const WireField& kind) {
    if (kind.number == 1) {
      is_tensor = true;
      base::ForEachField(kind.bytes, [&](const WireField& field) {
        has_shape = has_shape || field.number == 2;
        return true;
      });
    } else if (kind.number == 9 && !in_optional) {
      base::ForEachField(kind.bytes, [&](const WireField& element) {
        optional_is_open = element.number == 1 && IsOpen(element.bytes, true);
        return true;
      });
    }
    return true;
  });
  return (is_tensor && !has_shape) || optional_is_open;
}

void Mark(std::string_view value, std::vector<TensorSignature>* tensors) {
  std::string name;
  bool open = false;
  base::ForEachField(value, [&](const WireField& field) {
    if (field.number == 1) {
      name = field.bytes;
    } else if (field.number == 2) {
      open = IsOpen(field.bytes, false);
    }
    return true;
  });
  const int place = open ? framework::FindTensor(*tensors, name) : -1;
  if (place < 0) {
    return;
  }
  TensorSignature& tensor = (*tensors)[static_cast<size_t>(place)];
  if (tensor.scalar_or_open) {  // ONNX Runtime has not inferred a shape either
    tensor.scalar_or_open = false;
    tensor.has_rank = false;
  }
}

bool HasUnclear(const std::vector<TensorSignature>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const TensorSignature& tensor) { return tensor.scalar_or_open; });
}

}  // namespace

void MarkOpenRanks(const base::ByteSource& model, framework::ModelSignature* signature) {
  base::ScanFields(model, 0, model.size(), [&](const base::ScannedField& graph) {
    if (graph.number != 7 || graph.type != base::WireType::kLength) {
      return true;
    }
    base::ScanFields(model, graph.offset, graph.size, [&](const base::ScannedField& field) {
      const bool is_value = field.number == 11 || field.number == 12;
      if (is_value && field.type == base::WireType::kLength && field.size <= kMaxValueBytes) {
        Mark(model.Read(field.offset, static_cast<size_t>(field.size)),
             field.number == 11 ? &signature->inputs : &signature->outputs);
      }
      return true;
    });
    return true;
  });
}

void MarkOpenRanks(const std::string& path, framework::ModelSignature* signature) {
  if (!HasUnclear(signature->inputs) && !HasUnclear(signature->outputs)) {
    return;
  }
  if (const auto model = base::OpenByteSource(path); model.ok()) {
    MarkOpenRanks(**model, signature);
  }
}

}  // namespace nereid::onnxruntime
