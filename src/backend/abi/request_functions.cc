// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_Request*.
#include "abi/error.h"
#include "abi/handle.h"
#include "abi/parameter.h"
#include "abi/tensor_types.h"
#include "request/binding.h"
#include "request/inference_request.h"
#include "request/reschedule_status.h"
#include "request/response_factory.h"

using nereid::abi::Guard;
using nereid::abi::OutOfBounds;
using nereid::abi::ToError;
using nereid::abi::ToMemoryType;
using nereid::abi::Unwrap;
using nereid::abi::Wrap;
using nereid::base::Status;
using nereid::request::InferenceRequest;

namespace {

/// Returns the request to its scheduler. On failure the request stays with the backend.
Status Reschedule(InferenceRequest& request) {
  if (request.release_listener == nullptr) {
    return nereid::request::RescheduleUnsupported();
  }
  std::unique_ptr<InferenceRequest> owned(&request);
  Status status = request.release_listener->Reschedule(owned);
  // On success the scheduler has emptied `owned`; on failure the backend keeps the request.
  (void)owned.release();
  return status;
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_RequestId(TRITONBACKEND_Request* request, const char** id) {
  NEREID_CHECK_NOT_NULL(request, id);
  *id = Unwrap(request).id.c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestIsCancelled(TRITONBACKEND_Request* request,
                                                     bool* is_cancelled) {
  NEREID_CHECK_NOT_NULL(request, is_cancelled);
  *is_cancelled = Unwrap(request).IsCancelled();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationId(TRITONBACKEND_Request* request,
                                                       uint64_t* id) {
  NEREID_CHECK_NOT_NULL(request, id);
  const auto* number = std::get_if<uint64_t>(&Unwrap(request).correlation_id);
  if (number == nullptr) {
    return ToError(
        Status::InvalidArgument("given request's correlation id is not an unsigned int"));
  }
  *id = *number;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationIdString(TRITONBACKEND_Request* request,
                                                             const char** id) {
  NEREID_CHECK_NOT_NULL(request, id);
  const auto* text = std::get_if<std::string>(&Unwrap(request).correlation_id);
  if (text == nullptr) {
    return ToError(Status::InvalidArgument("given request's correlation id is not a string"));
  }
  *id = text->c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_InferenceRequestTimeoutMicroseconds(
    TRITONBACKEND_Request* request, uint64_t* timeout) {
  NEREID_CHECK_NOT_NULL(request, timeout);
  *timeout = Unwrap(request).timeout_us;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestFlags(TRITONBACKEND_Request* request, uint32_t* flags) {
  NEREID_CHECK_NOT_NULL(request, flags);
  *flags = Unwrap(request).flags;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestParameterCount(TRITONBACKEND_Request* request,
                                                        uint32_t* count) {
  NEREID_CHECK_NOT_NULL(request, count);
  *count = static_cast<uint32_t>(Unwrap(request).parameters.size());
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestParameter(TRITONBACKEND_Request* request,
                                                   const uint32_t index, const char** key,
                                                   TRITONSERVER_ParameterType* type,
                                                   const void** vvalue) {
  NEREID_CHECK_NOT_NULL(request, key, type, vvalue);
  return Guard([&] {
    const auto& parameters = Unwrap(request).parameters;
    if (index >= parameters.size()) return OutOfBounds(index, parameters.size(), "parameters");
    *key = parameters[index].name.c_str();
    const auto view = std::visit(nereid::abi::ParameterView(), parameters[index].value);
    *type = view.type;
    *vvalue = view.value;
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(TRITONBACKEND_Request* request,
                                                    uint32_t* count) {
  NEREID_CHECK_NOT_NULL(request, count);
  *count = static_cast<uint32_t>(Unwrap(request).inputs().size());
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputName(TRITONBACKEND_Request* request,
                                                   const uint32_t index, const char** input_name) {
  NEREID_CHECK_NOT_NULL(request, input_name);
  return Guard([&] {
    const auto& inputs = Unwrap(request).inputs();
    if (index >= inputs.size()) return OutOfBounds(index, inputs.size(), "inputs");
    *input_name = inputs[index].name.c_str();
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestInput(TRITONBACKEND_Request* request, const char* name,
                                               TRITONBACKEND_Input** input) {
  NEREID_CHECK_NOT_NULL(request, name, input);
  return Guard([&] {
    auto* found = Unwrap(request).inputs().Find(name);
    if (found == nullptr) {
      return Status::InvalidArgument(Unwrap(request).LogPrefix() + "unknown request input name " +
                                     name);
    }
    *input = Wrap<TRITONBACKEND_Input>(found);
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(TRITONBACKEND_Request* request,
                                                      const uint32_t index,
                                                      TRITONBACKEND_Input** input) {
  NEREID_CHECK_NOT_NULL(request, input);
  return Guard([&] {
    auto& inputs = Unwrap(request).inputs();
    if (index >= inputs.size()) return OutOfBounds(index, inputs.size(), "inputs");
    *input = Wrap<TRITONBACKEND_Input>(&inputs[index]);
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request* request,
                                                     uint32_t* count) {
  NEREID_CHECK_NOT_NULL(request, count);
  *count = static_cast<uint32_t>(Unwrap(request).requested_outputs.size());
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request* request,
                                                    const uint32_t index,
                                                    const char** output_name) {
  NEREID_CHECK_NOT_NULL(request, output_name);
  return Guard([&] {
    const auto& outputs = Unwrap(request).requested_outputs;
    if (index >= outputs.size()) return OutOfBounds(index, outputs.size(), "requested outputs");
    *output_name = outputs[index].c_str();
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputBufferProperties(
    TRITONBACKEND_Request* request, const char* name, size_t* byte_size,
    TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id) {
  NEREID_CHECK_NOT_NULL(request, memory_type, memory_type_id);
  return Guard([&] {
    auto type = ToMemoryType(*memory_type);
    NEREID_RETURN_IF_ERROR(Unwrap(request).sink()->QueryOutput(
        name == nullptr ? std::string_view() : std::string_view(name), byte_size, &type,
        memory_type_id));
    *memory_type = ToMemoryType(type);
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestRelease(TRITONBACKEND_Request* request,
                                                 uint32_t release_flags) {
  NEREID_CHECK_NOT_NULL(request);
  return Guard([&] {
    if (release_flags == TRITONSERVER_REQUEST_RELEASE_RESCHEDULE) {
      return Reschedule(Unwrap(request));
    }
    if (release_flags != TRITONSERVER_REQUEST_RELEASE_ALL) {
      return Status::InvalidArgument("unknown request release flags " +
                                     std::to_string(release_flags));
    }
    nereid::request::ReleaseRequest(std::unique_ptr<InferenceRequest>(&Unwrap(request)));
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestTrace(TRITONBACKEND_Request* request,
                                               TRITONSERVER_InferenceTrace** trace) {
  NEREID_CHECK_NOT_NULL(request, trace);
  *trace = Wrap<TRITONSERVER_InferenceTrace>(Unwrap(request).trace());
  return nullptr;
}

}  // extern "C"
