// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_InferenceRequest*: inputs, their data, and requested outputs.
#include <algorithm>
#include <memory>
#include <string>

#include "abi/handle.h"
#include "abi/tensor_types.h"
#include "frontend/capi/edit.h"

using namespace nereid;
using namespace nereid::frontend::capi;
using request::InferenceRequest;

namespace {

base::Result<request::Input*> FindInput(InferenceRequest& request, const char* name) {
  request::Input* input = request.inputs().Find(name);
  if (input == nullptr) {
    return base::Status::InvalidArgument(request.LogPrefix() + "input '" + name +
                                         "' does not exist in request");
  }
  return input;
}

base::Status CheckBuffer(const InferenceRequest& request, const char* name, const void* data,
                         size_t size, TRITONSERVER_MemoryType type) {
  if (!abi::IsMemoryType(type)) {
    return base::Status::InvalidArgument(request.LogPrefix() + "input '" + name +
                                         "' has the unknown memory type " +
                                         std::to_string(static_cast<int>(type)));
  }
  if (data == nullptr && size > 0) {
    return base::Status::InvalidArgument(request.LogPrefix() + "input '" + name +
                                         "': " + std::to_string(size) + " bytes at NULL");
  }
  return base::Status::Ok();
}

base::Status AppendData(InferenceRequest& request, const char* name, const void* data, size_t size,
                        TRITONSERVER_MemoryType type, int64_t id) {
  NEREID_ASSIGN_OR_RETURN(request::Input * input, FindInput(request, name));
  NEREID_RETURN_IF_ERROR(CheckBuffer(request, name, data, size, type));
  // An empty buffer would only be one more for the backend to look at.
  if (size > 0) input->Append(data, size, abi::ToMemoryType(type), id);
  if (type == TRITONSERVER_MEMORY_GPU) request.has_gpu_memory = true;
  return base::Status::Ok();
}

std::vector<request::InputPiece>& DataFor(request::Input& input, const char* host_policy) {
  for (request::PolicyData& data : input.policy_data) {
    if (data.host_policy == host_policy) return data.pieces;
  }
  return input.policy_data.emplace_back(request::PolicyData{host_policy, {}}).pieces;
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddInput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name,
    TRITONSERVER_DataType datatype, const int64_t* shape, uint64_t dim_count) {
  NEREID_CHECK_NOT_NULL(inference_request, name);
  if (dim_count > 0) NEREID_CHECK_NOT_NULL(shape);
  return Edit(inference_request, [&](InferenceRequest& request) {
    return request
        .AddInput(name, abi::ToDataType(datatype),
                  dim_count > 0 ? tensor::Shape(shape, shape + dim_count) : tensor::Shape())
        .status();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddRawInput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name) {
  NEREID_CHECK_NOT_NULL(inference_request, name);
  return Edit(inference_request,
              [&](InferenceRequest& request) { return request.AddRawInput(name).status(); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveInput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name) {
  NEREID_CHECK_NOT_NULL(inference_request, name);
  return Edit(inference_request,
              [&](InferenceRequest& request) { return request.RemoveInput(name); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllInputs(
    TRITONSERVER_InferenceRequest* inference_request) {
  NEREID_CHECK_NOT_NULL(inference_request);
  return Edit(inference_request, [](InferenceRequest& request) { request.inputs().Clear(); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestAppendInputData(
    TRITONSERVER_InferenceRequest* inference_request, const char* name, const void* base,
    size_t byte_size, TRITONSERVER_MemoryType memory_type, int64_t memory_type_id) {
  NEREID_CHECK_NOT_NULL(inference_request, name);
  return Edit(inference_request, [&](InferenceRequest& request) {
    return AppendData(request, name, base, byte_size, memory_type, memory_type_id);
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestAppendInputDataWithHostPolicy(
    TRITONSERVER_InferenceRequest* inference_request, const char* name, const void* base,
    size_t byte_size, TRITONSERVER_MemoryType memory_type, int64_t memory_type_id,
    const char* host_policy_name) {
  NEREID_CHECK_NOT_NULL(inference_request, name, host_policy_name);
  return Edit(inference_request, [&](InferenceRequest& request) -> base::Status {
    NEREID_ASSIGN_OR_RETURN(request::Input * input, FindInput(request, name));
    NEREID_RETURN_IF_ERROR(CheckBuffer(request, name, base, byte_size, memory_type));
    if (request.inputs().is_raw()) {
      return base::Status::Unsupported(request.LogPrefix() +
                                       "the input of a raw request cannot have data for host "
                                       "policy '" +
                                       std::string(host_policy_name) + "'");
    }
    if (byte_size == 0) return base::Status::Ok();
    if (memory_type == TRITONSERVER_MEMORY_GPU) request.has_gpu_memory = true;
    DataFor(*input, host_policy_name)
        .push_back({static_cast<const char*>(base), byte_size, abi::ToMemoryType(memory_type),
                    memory_type_id});
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestAppendInputDataWithBufferAttributes(
    TRITONSERVER_InferenceRequest* inference_request, const char* name, const void* base,
    TRITONSERVER_BufferAttributes* buffer_attributes) {
  NEREID_CHECK_NOT_NULL(inference_request, name, buffer_attributes);
  return Edit(inference_request, [&](InferenceRequest& request) {
    const memory::BufferAttributes& attributes = abi::Unwrap(buffer_attributes);
    NEREID_RETURN_IF_ERROR(AppendData(request, name, base, attributes.byte_size,
                                      abi::ToMemoryType(attributes.memory_type),
                                      attributes.memory_type_id));
    if (attributes.byte_size > 0) {
      request::Input& input = *request.inputs().Find(name);
      input.attributes.resize(input.pieces.size());
      input.attributes.back() = std::make_unique<memory::BufferAttributes>(attributes);
    }
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllInputData(
    TRITONSERVER_InferenceRequest* inference_request, const char* name) {
  NEREID_CHECK_NOT_NULL(inference_request, name);
  return Edit(inference_request, [&](InferenceRequest& request) -> base::Status {
    NEREID_ASSIGN_OR_RETURN(request::Input * input, FindInput(request, name));
    input->pieces.clear();
    input->policy_data.clear();
    input->attributes.clear();
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddRequestedOutput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name) {
  NEREID_CHECK_NOT_NULL(inference_request, name);
  return Edit(inference_request, [&](InferenceRequest& request) {
    auto& outputs = request.requested_outputs;
    if (std::find(outputs.begin(), outputs.end(), name) != outputs.end()) {
      return base::Status::InvalidArgument(request.LogPrefix() + "output '" + name +
                                           "' already exists in request");
    }
    outputs.emplace_back(name);
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveRequestedOutput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name) {
  NEREID_CHECK_NOT_NULL(inference_request, name);
  return Edit(inference_request,
              [&](InferenceRequest& request) { std::erase(request.requested_outputs, name); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllRequestedOutputs(
    TRITONSERVER_InferenceRequest* inference_request) {
  NEREID_CHECK_NOT_NULL(inference_request);
  return Edit(inference_request,
              [](InferenceRequest& request) { request.requested_outputs.clear(); });
}

}  // extern "C"
