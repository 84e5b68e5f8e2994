// SPDX-License-Identifier: Apache-2.0
#include "python/responses.h"

#include <string>
#include <utility>

#include "nereid/backend/bytes_tensor.h"
#include "nereid/backend/data_type.h"
#include "nereid/backend/json.h"
#include "nereid/backend/output.h"
#include "nereid/backend/sequence.h"

namespace nereid::python {
namespace {

using backend::Error;

Error SetParameter(TRITONBACKEND_Response* response, const char* name,
                   const rapidjson::Value& value) {
  if (value.IsString()) {
    return Error(TRITONBACKEND_ResponseSetStringParameter(response, name, value.GetString()));
  }
  if (value.IsInt64()) {
    return Error(TRITONBACKEND_ResponseSetIntParameter(response, name, value.GetInt64()));
  }
  if (value.IsBool()) {
    return Error(TRITONBACKEND_ResponseSetBoolParameter(response, name, value.GetBool()));
  }
  return Error::Internal("Unsupported value type on parameters");
}

Error SetParameters(TRITONBACKEND_Response* response, std::string_view text) {
  rapidjson::Document parameters;
  parameters.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (parameters.HasParseError() || !parameters.IsObject()) {
    return Error::Internal("the parameters of a response are no JSON object");
  }
  for (const auto& member : parameters.GetObject()) {
    NEREID_BACKEND_TRY(SetParameter(response, member.name.GetString(), member.value));
  }
  return {};
}

Error WrongSize(const WireTensor& tensor) {
  return Error::Internal("tensor '" + std::string(tensor.name) + "' of the Python model has " +
                         std::to_string(tensor.size) +
                         " bytes, which do not fit its type and its shape " +
                         backend::ShapeText(tensor.shape));
}

}  // namespace

Error ErrorOf(const WireResult& result) {
  const auto code = result.code <= TRITONSERVER_ERROR_CANCELLED
                        ? static_cast<TRITONSERVER_Error_Code>(result.code)
                        : TRITONSERVER_ERROR_INTERNAL;
  return {code, std::string(result.text)};
}

Error CheckTensor(const WireTensor& tensor) {
  const int64_t count = backend::ElementCount(tensor.shape);
  if (count < 0 || tensor.data_type < TRITONSERVER_TYPE_BOOL ||
      tensor.data_type > TRITONSERVER_TYPE_BF16) {
    return WrongSize(tensor);
  }
  const auto type = static_cast<TRITONSERVER_DataType>(tensor.data_type);
  if (type == TRITONSERVER_TYPE_BYTES) {
    const bool room = static_cast<uint64_t>(count) <= tensor.size / sizeof(uint32_t);
    return room ? Error() : WrongSize(tensor);
  }
  const int64_t expected = backend::TensorByteSize(type, tensor.shape);
  return expected >= 0 && static_cast<uint64_t>(expected) == tensor.size ? Error()
                                                                         : WrongSize(tensor);
}

Error CheckElements(const WireTensor& tensor, const char* content) {
  if (tensor.data_type != TRITONSERVER_TYPE_BYTES) {
    return {};
  }
  const Error error =
      backend::ForEachBytesElement(content, tensor.size, backend::ElementCount(tensor.shape),
                                   tensor.name, [](int64_t, std::string_view) {});
  return error.ok() ? Error() : Error::Internal(error.message());
}

namespace {

/// Adds an output and begins to copy its content.
Error AddOutput(const WireTensor& tensor, SegmentUses* content, TRITONBACKEND_Response* response) {
  NEREID_BACKEND_TRY(CheckTensor(tensor));
  const std::string name(tensor.name);
  const auto type = static_cast<TRITONSERVER_DataType>(tensor.data_type);
  if (TensorContent lent; content->Lend(tensor, &lent)) {
    return backend::LendOutput(response, name.c_str(), type, tensor.shape, lent.data, tensor.size,
                               std::move(lent.owner));
  }
  if (type == TRITONSERVER_TYPE_BYTES) {
    char* buffer = nullptr;
    NEREID_BACKEND_TRY(
        backend::AllocateOutput(response, name.c_str(), type, tensor.shape, tensor.size, &buffer));
    NEREID_BACKEND_TRY(content->Copy(tensor, {buffer}));
    return CheckElements(tensor, buffer);
  }
  backend::OutputMemory memory{nullptr, content->GpuOf(tensor)};
  NEREID_BACKEND_TRY(
      backend::AllocateOutput(response, name.c_str(), type, tensor.shape, tensor.size, &memory));
  return content->Copy(tensor, {memory.data, memory.gpu});
}

/// Writes an output that is a state.
Error WriteState(const WireTensor& tensor, SegmentUses* content, TRITONBACKEND_Request* request) {
  NEREID_BACKEND_TRY(CheckTensor(tensor));
  const std::string name(tensor.name);
  const auto type = static_cast<TRITONSERVER_DataType>(tensor.data_type);
  TRITONBACKEND_State* state = nullptr;
  backend::OutputMemory memory{nullptr, content->GpuOf(tensor)};
  if (type == TRITONSERVER_TYPE_BYTES) {
    NEREID_BACKEND_TRY(backend::AllocateState(request, name.c_str(), type, tensor.shape,
                                              tensor.size, &state, &memory.data));
  } else {
    NEREID_BACKEND_TRY(backend::AllocateState(request, name.c_str(), type, tensor.shape,
                                              tensor.size, &state, &memory));
  }
  NEREID_BACKEND_TRY(content->Copy(tensor, {memory.data, memory.gpu}));
  NEREID_BACKEND_TRY(content->Wait());
  NEREID_BACKEND_TRY(CheckElements(tensor, memory.data));
  return Error(TRITONBACKEND_StateUpdate(state));
}

}  // namespace

Error WriteStates(const WireResult& result, SegmentUses* content, const StateNames& states,
                  TRITONBACKEND_Request* request, WireResult* rest) {
  *rest = result;
  StateNames unrequested = states;
  NEREID_BACKEND_TRY(backend::ForEachRequestedOutput(request, [&](const char* name) -> Error {
    unrequested.erase(name);
    return {};
  }));
  for (const WireTensor& tensor : result.outputs) {
    if (!states.contains(tensor.name)) {
      continue;
    }
    NEREID_BACKEND_TRY(WriteState(tensor, content, request));
  }
  std::erase_if(rest->outputs,
                [&](const WireTensor& tensor) { return unrequested.contains(tensor.name); });
  return {};
}

Error FillResponse(const WireResult& result, SegmentUses* content,
                   TRITONBACKEND_Response* response) {
  // Also after an error: a copy must not outlive the buffers of the response.
  Error added = backend::Catching([&]() -> Error {
    for (const WireTensor& tensor : result.outputs) {
      NEREID_BACKEND_TRY(AddOutput(tensor, content, response));
    }
    return {};
  });
  Error copied = content->Wait();
  NEREID_BACKEND_TRY(std::move(added));
  NEREID_BACKEND_TRY(std::move(copied));
  return result.parameters.empty() ? Error() : SetParameters(response, result.parameters);
}

}  // namespace nereid::python
