// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_InferenceRequest*: life, settings, callbacks and parameters.
#include <limits>
#include <memory>
#include <string>

#include "frontend/capi/edit.h"
#include "request/correlation_id.h"

using namespace nereid;
using namespace nereid::frontend::capi;
using abi::Unwrap;
using request::InferenceRequest;

namespace {

void SetCallbacks(InferenceRequest& request, const Callbacks& callbacks) {
  request.SetSink(std::make_shared<CallbackSink>(SinkOf(request), callbacks));
}

TRITONSERVER_Error* AddParameter(TRITONSERVER_InferenceRequest* c_request, const char* key,
                                 const request::Parameter::Value& value) {
  return Edit(c_request, [&](InferenceRequest& request) {
    request.parameters.push_back(request::Parameter{key, value});
  });
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_InferenceRequestNew(
    TRITONSERVER_InferenceRequest** inference_request, TRITONSERVER_Server* server,
    const char* model_name, int64_t model_version) {
  NEREID_CHECK_NOT_NULL(inference_request, server, model_name);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(api::InferenceService * service, ServiceOf(server));
    NEREID_ASSIGN_OR_RETURN([[maybe_unused]] const api::ModelTraits traits,
                            service->FindModel(model_name, model_version));
    auto request = std::make_unique<InferenceRequest>();
    request->model_name = model_name;
    request->model_version = model_version;
    request->SetSink(std::make_shared<CallbackSink>());
    *inference_request = abi::Wrap<TRITONSERVER_InferenceRequest>(request.release());
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestDelete(
    TRITONSERVER_InferenceRequest* inference_request) {
  if (inference_request == nullptr) return nullptr;
  return Edit(inference_request, [](InferenceRequest& request) { delete &request; });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestId(
    TRITONSERVER_InferenceRequest* inference_request, const char** id) {
  NEREID_CHECK_NOT_NULL(inference_request, id);
  *id = Unwrap(inference_request).id.c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetId(
    TRITONSERVER_InferenceRequest* inference_request, const char* id) {
  NEREID_CHECK_NOT_NULL(inference_request, id);
  return Edit(inference_request, [&](InferenceRequest& request) { request.id = id; });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestFlags(
    TRITONSERVER_InferenceRequest* inference_request, uint32_t* flags) {
  NEREID_CHECK_NOT_NULL(inference_request, flags);
  *flags = Unwrap(inference_request).flags;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetFlags(
    TRITONSERVER_InferenceRequest* inference_request, uint32_t flags) {
  NEREID_CHECK_NOT_NULL(inference_request);
  return Edit(inference_request, [&](InferenceRequest& request) { request.flags = flags; });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestCorrelationId(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t* correlation_id) {
  NEREID_CHECK_NOT_NULL(inference_request, correlation_id);
  return abi::Guard([&] {
    const InferenceRequest& request = Unwrap(inference_request);
    const auto* number = std::get_if<uint64_t>(&request.correlation_id);
    if (number == nullptr) {
      return base::Status::InvalidArgument(request.LogPrefix() +
                                           "given request's correlation id is not an unsigned int");
    }
    *correlation_id = *number;
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestCorrelationIdString(
    TRITONSERVER_InferenceRequest* inference_request, const char** correlation_id) {
  NEREID_CHECK_NOT_NULL(inference_request, correlation_id);
  return abi::Guard([&] {
    const InferenceRequest& request = Unwrap(inference_request);
    const auto* text = std::get_if<std::string>(&request.correlation_id);
    if (text == nullptr) {
      return base::Status::InvalidArgument(request.LogPrefix() +
                                           "given request's correlation id is not a string");
    }
    *correlation_id = text->c_str();
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetCorrelationId(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t correlation_id) {
  NEREID_CHECK_NOT_NULL(inference_request);
  return Edit(inference_request,
              [&](InferenceRequest& request) { request.correlation_id = correlation_id; });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetCorrelationIdString(
    TRITONSERVER_InferenceRequest* inference_request, const char* correlation_id) {
  NEREID_CHECK_NOT_NULL(inference_request, correlation_id);
  return Edit(inference_request, [&](InferenceRequest& request) {
    NEREID_RETURN_IF_ERROR(request::CheckCorrelationId(correlation_id));
    request.correlation_id = std::string(correlation_id);
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestCancel(
    TRITONSERVER_InferenceRequest* inference_request) {
  NEREID_CHECK_NOT_NULL(inference_request);
  Unwrap(inference_request).cancellation()->Cancel();
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestIsCancelled(
    TRITONSERVER_InferenceRequest* inference_request, bool* is_cancelled) {
  NEREID_CHECK_NOT_NULL(inference_request, is_cancelled);
  *is_cancelled = Unwrap(inference_request).IsCancelled();
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestPriority(
    TRITONSERVER_InferenceRequest* inference_request, uint32_t* priority) {
  NEREID_CHECK_NOT_NULL(inference_request, priority);
  return abi::Guard([&] {
    const InferenceRequest& request = Unwrap(inference_request);
    if (request.priority > std::numeric_limits<uint32_t>::max()) {
      return base::Status::InvalidArgument(
          request.LogPrefix() + "priority " + std::to_string(request.priority) +
          " needs more than 32 bits; ask with TRITONSERVER_InferenceRequestPriorityUInt64");
    }
    *priority = static_cast<uint32_t>(request.priority);
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestPriorityUInt64(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t* priority) {
  NEREID_CHECK_NOT_NULL(inference_request, priority);
  *priority = Unwrap(inference_request).priority;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetPriority(
    TRITONSERVER_InferenceRequest* inference_request, uint32_t priority) {
  return TRITONSERVER_InferenceRequestSetPriorityUInt64(inference_request, priority);
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetPriorityUInt64(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t priority) {
  NEREID_CHECK_NOT_NULL(inference_request);
  return Edit(inference_request, [&](InferenceRequest& request) { request.priority = priority; });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestTimeoutMicroseconds(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t* timeout_us) {
  NEREID_CHECK_NOT_NULL(inference_request, timeout_us);
  *timeout_us = Unwrap(inference_request).timeout_us;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t timeout_us) {
  NEREID_CHECK_NOT_NULL(inference_request);
  return Edit(inference_request,
              [&](InferenceRequest& request) { request.timeout_us = timeout_us; });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetReleaseCallback(
    TRITONSERVER_InferenceRequest* inference_request,
    TRITONSERVER_InferenceRequestReleaseFn_t request_release_fn, void* request_release_userp) {
  NEREID_CHECK_NOT_NULL(inference_request, request_release_fn);
  return Edit(inference_request, [&](InferenceRequest& request) {
    Callbacks callbacks = SinkOf(request).callbacks();
    callbacks.release_fn = request_release_fn;
    callbacks.release_userp = request_release_userp;
    SetCallbacks(request, callbacks);
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetResponseCallback(
    TRITONSERVER_InferenceRequest* inference_request,
    TRITONSERVER_ResponseAllocator* response_allocator, void* response_allocator_userp,
    TRITONSERVER_InferenceResponseCompleteFn_t response_fn, void* response_userp) {
  NEREID_CHECK_NOT_NULL(inference_request, response_allocator, response_fn);
  return Edit(inference_request, [&](InferenceRequest& request) {
    Callbacks callbacks = SinkOf(request).callbacks();
    callbacks.allocator = response_allocator;
    callbacks.allocator_userp = response_allocator_userp;
    callbacks.response_fn = response_fn;
    callbacks.response_userp = response_userp;
    SetCallbacks(request, callbacks);
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetStringParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, const char* value) {
  NEREID_CHECK_NOT_NULL(request, key, value);
  return Edit(request, [&](InferenceRequest& target) {
    target.parameters.push_back(request::Parameter{key, std::string(value)});
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetIntParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, int64_t value) {
  NEREID_CHECK_NOT_NULL(request, key);
  return AddParameter(request, key, value);
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetBoolParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, bool value) {
  NEREID_CHECK_NOT_NULL(request, key);
  return AddParameter(request, key, value);
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetDoubleParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, double value) {
  NEREID_CHECK_NOT_NULL(request, key);
  return AddParameter(request, key, value);
}

}  // extern "C"
