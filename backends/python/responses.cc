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
  return Error::InvalidArgument("Unsupported value type on parameters");
}

Error SetParameters(TRITONBACKEND_Response* response, std::string_view text) {
  rapidjson::Document parameters;
  parameters.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (parameters.HasParseError() || !parameters.IsObject()) {
    return Error::InvalidArgument("the parameters of a response are no JSON object");
  }
  for (const auto& member : parameters.GetObject()) {
    NEREID_BACKEND_TRY(SetParameter(response, member.name.GetString(), member.value));
  }
  return {};
}

Error WrongSize(const WireTensor& tensor) {
  return Error::InvalidArgument("tensor '" + std::string(tensor.name) +
                                "' of the Python model has " + std::to_string(tensor.size) +
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
  return backend::ForEachBytesElement(content, tensor.size, backend::ElementCount(tensor.shape),
                                      tensor.name, [](int64_t, std::string_view) {});
}

Error WriteStates(const WireResult& result, const SegmentUses& content, const StateNames& states,
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
    NEREID_BACKEND_TRY(CheckTensor(tensor));
    TRITONBACKEND_State* state = nullptr;
    char* buffer = nullptr;
    NEREID_BACKEND_TRY(backend::AllocateState(request, std::string(tensor.name).c_str(),
                                              static_cast<TRITONSERVER_DataType>(tensor.data_type),
                                              tensor.shape, tensor.size, &state, &buffer));
    NEREID_BACKEND_TRY(content.Copy(tensor, buffer));
    NEREID_BACKEND_TRY(CheckElements(tensor, buffer));
    NEREID_BACKEND_TRY(TRITONBACKEND_StateUpdate(state));
  }
  std::erase_if(rest->outputs,
                [&](const WireTensor& tensor) { return unrequested.contains(tensor.name); });
  return {};
}

Error FillResponse(const WireResult& result, SegmentUses* content,
                   TRITONBACKEND_Response* response) {
  for (const WireTensor& tensor : result.outputs) {
    NEREID_BACKEND_TRY(CheckTensor(tensor));
    const std::string name(tensor.name);
    const auto type = static_cast<TRITONSERVER_DataType>(tensor.data_type);
    if (TensorContent lent; content->Lend(tensor, &lent)) {
      NEREID_BACKEND_TRY(backend::LendOutput(response, name.c_str(), type, tensor.shape, lent.data,
                                             tensor.size, std::move(lent.owner)));
      continue;
    }
    char* buffer = nullptr;
    NEREID_BACKEND_TRY(
        backend::AllocateOutput(response, name.c_str(), type, tensor.shape, tensor.size, &buffer));
    NEREID_BACKEND_TRY(content->Copy(tensor, buffer));
    NEREID_BACKEND_TRY(CheckElements(tensor, buffer));
  }
  return result.parameters.empty() ? Error() : SetParameters(response, result.parameters);
}

}  // namespace nereid::python
