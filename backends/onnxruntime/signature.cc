// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/signature.h"

#include "framework/type_table.h"

namespace nereid::onnxruntime {
namespace {

using framework::TensorSignature;

constexpr framework::TypeRow<ONNXTensorElementDataType> kTypes[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, TRITONSERVER_TYPE_BOOL},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, TRITONSERVER_TYPE_UINT8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, TRITONSERVER_TYPE_UINT16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, TRITONSERVER_TYPE_UINT32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, TRITONSERVER_TYPE_UINT64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, TRITONSERVER_TYPE_INT8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, TRITONSERVER_TYPE_INT16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, TRITONSERVER_TYPE_INT32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, TRITONSERVER_TYPE_INT64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, TRITONSERVER_TYPE_FP16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, TRITONSERVER_TYPE_FP32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, TRITONSERVER_TYPE_FP64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, TRITONSERVER_TYPE_BYTES},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, TRITONSERVER_TYPE_BF16}};

/// Returns the type T of optional(T), or null for any other type. ONNX Runtime accepts a tensor for
/// an optional(tensor).
Error ReadHeldType(const OrtTypeInfo& type, Owned<OrtTypeInfo>* held) {
  const OrtOptionalTypeInfo* info = nullptr;
  NEREID_ORT_TRY(Api().CastTypeInfoToOptionalTypeInfo(&type, &info));
  if (info != nullptr) {
    OrtTypeInfo* made = nullptr;
    NEREID_ORT_TRY(Api().GetOptionalContainedTypeInfo(info, &made));
    held->reset(made);
  }
  return {};
}

Error ReadTensorInfo(const OrtTypeInfo& type_info, TensorSignature* tensor) {
  const OrtTensorTypeAndShapeInfo* info = nullptr;
  NEREID_ORT_TRY(Api().CastTypeInfoToTensorInfo(&type_info, &info));
  Owned<OrtTypeInfo> held;
  if (info == nullptr) {
    NEREID_BACKEND_TRY(ReadHeldType(type_info, &held));
    if (held != nullptr) {
      NEREID_ORT_TRY(Api().CastTypeInfoToTensorInfo(held.get(), &info));
    }
  }
  if (info == nullptr) {
    tensor->is_tensor = false;
    tensor->foreign_type = "no tensor";
    return {};
  }
  tensor->has_rank = true;
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  NEREID_ORT_TRY(Api().GetTensorElementType(info, &type));
  tensor->data_type = DataTypeOf(type);
  if (tensor->data_type == TRITONSERVER_TYPE_INVALID) {
    tensor->foreign_type = "ONNX element type " + std::to_string(type);
  }
  size_t rank = 0;
  NEREID_ORT_TRY(Api().GetDimensionsCount(info, &rank));
  tensor->scalar_or_open = rank == 0;
  tensor->dims.resize(rank);
  NEREID_ORT_TRY(Api().GetDimensions(info, tensor->dims.data(), rank));
  for (int64_t& dim : tensor->dims) {
    dim = dim < 0 ? -1 : dim;
  }
  std::vector<const char*> symbols(rank, nullptr);
  NEREID_ORT_TRY(Api().GetSymbolicDimensions(info, symbols.data(), rank));
  for (const char* symbol : symbols) {
    tensor->symbols.emplace_back(symbol == nullptr ? "" : symbol);
  }
  return {};
}

using Count = OrtStatus*(ORT_API_CALL*)(const OrtSession*, size_t*);
using Name = OrtStatus*(ORT_API_CALL*)(const OrtSession*, size_t, OrtAllocator*, char**);
using Type = OrtStatus*(ORT_API_CALL*)(const OrtSession*, size_t, OrtTypeInfo**);

Error ReadTensors(const OrtSession& session, Count count_of, Name name_of, Type type_of,
                  std::vector<TensorSignature>* tensors) {
  OrtAllocator* allocator = nullptr;
  NEREID_ORT_TRY(Api().GetAllocatorWithDefaultOptions(&allocator));
  size_t count = 0;
  NEREID_ORT_TRY(count_of(&session, &count));
  for (size_t i = 0; i < count; ++i) {
    TensorSignature& tensor = tensors->emplace_back();
    char* name = nullptr;
    NEREID_ORT_TRY(name_of(&session, i, allocator, &name));
    tensor.name = name;
    NEREID_ORT_TRY(Api().AllocatorFree(allocator, name));
    OrtTypeInfo* type = nullptr;
    NEREID_ORT_TRY(type_of(&session, i, &type));
    const Owned<OrtTypeInfo> owner(type);
    NEREID_BACKEND_TRY(ReadTensorInfo(*type, &tensor));
  }
  return {};
}

}  // namespace

Error ReadSignature(const OrtSession& session, framework::ModelSignature* signature,
                    std::vector<TensorSignature>* initializers) {
  NEREID_BACKEND_TRY(ReadTensors(session, Api().SessionGetInputCount, Api().SessionGetInputName,
                                 Api().SessionGetInputTypeInfo, &signature->inputs));
  NEREID_BACKEND_TRY(ReadTensors(session, Api().SessionGetOutputCount, Api().SessionGetOutputName,
                                 Api().SessionGetOutputTypeInfo, &signature->outputs));
  return ReadTensors(session, Api().SessionGetOverridableInitializerCount,
                     Api().SessionGetOverridableInitializerName,
                     Api().SessionGetOverridableInitializerTypeInfo, initializers);
}

TRITONSERVER_DataType DataTypeOf(ONNXTensorElementDataType type) {
  return framework::ToDataType(kTypes, type);
}

ONNXTensorElementDataType ElementTypeOf(TRITONSERVER_DataType type) {
  return framework::FromDataType(kTypes, type).value_or(ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED);
}

}  // namespace nereid::onnxruntime
