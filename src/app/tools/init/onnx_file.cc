// SPDX-License-Identifier: Apache-2.0
// The messages and field numbers of onnx.proto that this file reads:
//   ModelProto      graph 7
//   GraphProto      initializer 5 (TensorProto), input 11, output 12 (ValueInfoProto),
//                   sparse_initializer 15 (SparseTensorProto)
//   TensorProto     name 8            SparseTensorProto  values 1 (TensorProto)
//   ValueInfoProto  name 1, type 2    TypeProto  tensor_type 1, optional_type 9 (elem_type 1),
//                   other kinds 4, 5, 8
//   Tensor          elem_type 1, shape 2
//   TensorShape     dim 1             Dimension  dim_value 1, dim_param 2
#include <array>
#include <set>

#include "app/tools/init/model_files.h"
#include "base/wire_fields.h"

namespace nereid::app::tools {
namespace {

using base::ForEachField;
using base::Status;
using base::WireField;
using tensor::DataType;

// Indexed by TensorProto.DataType, from 0 (undefined) to 16 (BFLOAT16).
constexpr std::array<DataType, 17> kTypes = {
    DataType::kInvalid, DataType::kFp32,  DataType::kUint8,  DataType::kInt8,   DataType::kUint16,
    DataType::kInt16,   DataType::kInt32, DataType::kInt64,  DataType::kBytes,  DataType::kBool,
    DataType::kFp16,    DataType::kFp64,  DataType::kUint32, DataType::kUint64, DataType::kInvalid,
    DataType::kInvalid, DataType::kBf16,
};

struct Value {
  DraftTensor tensor;
  bool is_tensor = false;
  uint64_t element_type = 0;
};

// Reads a dimension: a number, a name, or nothing. Only a number is a size.
bool ReadDimension(std::string_view bytes, std::vector<int64_t>* dims) {
  int64_t size = -1;
  if (!ForEachField(bytes, [&](const WireField& field) {
        if (field.number == 1) size = static_cast<int64_t>(field.varint);
        return true;
      })) {
    return false;
  }
  dims->push_back(size < 1 ? -1 : size);
  return true;
}

bool ReadTensorType(std::string_view bytes, Value* value) {
  value->is_tensor = true;
  value->tensor.has_dims = false;
  return ForEachField(bytes, [&](const WireField& field) {
    if (field.number == 1) value->element_type = field.varint;
    if (field.number != 2) return true;
    value->tensor.has_dims = true;
    return ForEachField(field.bytes, [&](const WireField& dim) {
      return dim.number != 1 || ReadDimension(dim.bytes, &value->tensor.dims);
    });
  });
}

// Reads the type tensor or optional(tensor); clients send a tensor for both.
bool ReadType(std::string_view bytes, bool in_optional, Value* value) {
  return ForEachField(bytes, [&](const WireField& kind) {
    if (kind.number == 1) return ReadTensorType(kind.bytes, value);
    if (kind.number != 9 || in_optional) return true;
    return ForEachField(kind.bytes, [&](const WireField& element) {
      return element.number != 1 || ReadType(element.bytes, true, value);
    });
  });
}

bool ReadValue(std::string_view bytes, Value* value) {
  const bool read = ForEachField(bytes, [&](const WireField& field) {
    if (field.number == 1) value->tensor.name = field.bytes;
    if (field.number != 2) return true;
    return ReadType(field.bytes, false, value);
  });
  if (value->element_type < kTypes.size()) value->tensor.data_type = kTypes[value->element_type];
  return read;
}

struct Graph {
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  std::set<std::string_view> constants;
};

bool ReadConstant(std::string_view tensor, std::set<std::string_view>* names) {
  return ForEachField(tensor, [&](const WireField& field) {
    if (field.number == 8) names->insert(field.bytes);
    return true;
  });
}

bool ReadGraph(std::string_view bytes, Graph* graph) {
  return ForEachField(bytes, [&](const WireField& field) {
    switch (field.number) {
      case 5:
        return ReadConstant(field.bytes, &graph->constants);
      case 11:
        return ReadValue(field.bytes, &graph->inputs.emplace_back());
      case 12:
        return ReadValue(field.bytes, &graph->outputs.emplace_back());
      case 15:
        return ForEachField(field.bytes, [&](const WireField& sparse) {
          return sparse.number != 1 || ReadConstant(sparse.bytes, &graph->constants);
        });
      default:
        return true;
    }
  });
}

bool CanCarry(const Value& value) {
  return value.is_tensor && value.tensor.data_type != DataType::kInvalid;
}

std::string CannotCarry(const char* word, const Value& value) {
  const std::string kind = value.is_tensor
                               ? "has ONNX element type " + std::to_string(value.element_type)
                               : "is not a tensor";
  return std::string(word) + " '" + value.tensor.name + "' " + kind +
         ", so the inference protocol cannot carry it";
}

}  // namespace

Status ReadOnnx(std::string_view bytes, ConfigDraft* draft) {
  Graph graph;
  bool has_graph = false;
  const bool read = ForEachField(bytes, [&](const WireField& field) {
    if (field.number != 7) return true;
    has_graph = true;
    return ReadGraph(field.bytes, &graph);
  });
  if (!read || !has_graph) return Status::InvalidArgument("the file is not an ONNX model");
  if (graph.outputs.empty()) return Status::InvalidArgument("the ONNX model has no outputs");
  for (Value& value : graph.inputs) {
    if (graph.constants.contains(value.tensor.name)) continue;
    if (!CanCarry(value)) return Status::InvalidArgument(CannotCarry("input", value));
    draft->inputs.push_back(std::move(value.tensor));
  }
  for (Value& value : graph.outputs) {
    if (!CanCarry(value)) {
      draft->notes.push_back("Omitted: " + CannotCarry("output", value) + ".");
      continue;
    }
    draft->outputs.push_back(std::move(value.tensor));
  }
  return Status::Ok();
}

}  // namespace nereid::app::tools
