// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_InferenceResponse*.
#include <string>

#include "abi/error.h"
#include "abi/handle.h"
#include "abi/parameter.h"
#include "abi/tensor_types.h"
#include "request/inference_response.h"

using namespace nereid;
using abi::Unwrap;
using request::InferenceResponse;
using request::Output;

extern "C" {

TRITONSERVER_Error* TRITONSERVER_InferenceResponseDelete(
    TRITONSERVER_InferenceResponse* inference_response) {
  if (inference_response != nullptr) delete &Unwrap(inference_response);
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseError(
    TRITONSERVER_InferenceResponse* inference_response) {
  NEREID_CHECK_NOT_NULL(inference_response);
  return abi::BorrowError(Unwrap(inference_response).error());
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseModel(
    TRITONSERVER_InferenceResponse* inference_response, const char** model_name,
    int64_t* model_version) {
  NEREID_CHECK_NOT_NULL(inference_response, model_name, model_version);
  const request::ModelIdentity& model = Unwrap(inference_response).model();
  *model_name = model.name.c_str();
  *model_version = model.version;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseId(
    TRITONSERVER_InferenceResponse* inference_response, const char** request_id) {
  NEREID_CHECK_NOT_NULL(inference_response, request_id);
  *request_id = Unwrap(inference_response).id().c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseParameterCount(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t* count) {
  NEREID_CHECK_NOT_NULL(inference_response, count);
  *count = static_cast<uint32_t>(Unwrap(inference_response).parameters().size());
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseParameter(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t index, const char** name,
    TRITONSERVER_ParameterType* type, const void** vvalue) {
  NEREID_CHECK_NOT_NULL(inference_response, name, type, vvalue);
  return abi::Guard([&] {
    const auto& parameters = Unwrap(inference_response).parameters();
    if (index >= parameters.size()) return abi::OutOfBounds(index, parameters.size(), "parameters");
    const abi::ParameterView view = std::visit(abi::ParameterView(), parameters[index].value);
    *name = parameters[index].name.c_str();
    *type = view.type;
    *vvalue = view.value;
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutputCount(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t* count) {
  NEREID_CHECK_NOT_NULL(inference_response, count);
  *count = static_cast<uint32_t>(Unwrap(inference_response).outputs().size());
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutput(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t index, const char** name,
    TRITONSERVER_DataType* datatype, const int64_t** shape, uint64_t* dim_count, const void** base,
    size_t* byte_size, TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id,
    void** userp) {
  NEREID_CHECK_NOT_NULL(inference_response, name, datatype, shape, dim_count, base, byte_size,
                        memory_type, memory_type_id, userp);
  return abi::Guard([&] {
    const auto& outputs = Unwrap(inference_response).outputs();
    if (index >= outputs.size()) return abi::OutOfBounds(index, outputs.size(), "outputs");
    const Output& output = *outputs[index];
    *name = output.name.c_str();
    *datatype = abi::ToDataType(output.type);
    *shape = output.shape.data();
    *dim_count = output.shape.size();
    *base = output.data;
    *byte_size = output.size;
    *memory_type = abi::ToMemoryType(output.memory_type);
    *memory_type_id = output.memory_type_id;
    *userp = output.allocator_data;
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutputClassificationLabel(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t index, size_t class_index,
    const char** label) {
  NEREID_CHECK_NOT_NULL(inference_response, label);
  return abi::Guard([&] {
    const InferenceResponse& response = Unwrap(inference_response);
    if (index >= response.outputs().size()) {
      return abi::OutOfBounds(index, response.outputs().size(), "outputs");
    }
    const std::string& name = response.outputs()[index]->name;
    const std::span<const std::string> labels = response.model().LabelsOf(name);
    const bool has_label = class_index < labels.size() && !labels[class_index].empty();
    *label = has_label ? labels[class_index].c_str() : nullptr;
    return base::Status::Ok();
  });
}

}  // extern "C"
